# One image for amd64 and arm64: everything is built on the machine's own processor, and the last stage only copies, so
# that another processor needs no emulation. docs/deploy.md says how to build and run it.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY scripts/prepare.mjs scripts/
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc node scripts/prepare.mjs
COPY . .
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc npm run --silent prepack
# Copied by the last stage, which runs nothing.
RUN mkdir /data && ln -s /usr/local/bin/node bin/node

FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS libraries
ARG TARGETARCH
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY deploy/prune-libraries.mjs deploy/
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc \
  npm ci --omit=dev --ignore-scripts --os=linux --libc=glibc --cpu="$(echo "${TARGETARCH:-$(dpkg --print-architecture)}" | sed 's/amd64/x64/')" \
  && node deploy/prune-libraries.mjs

FROM node:24.21.0-bookworm-slim
COPY --from=libraries /app/node_modules /app/node_modules
COPY --from=build /app/package.json /app/LICENSE /app/
COPY --from=build /app/bin /app/bin
COPY --from=build /app/dist/app /app/dist/app
COPY --from=build --chown=1000:1000 /data /data
# A restore wants an empty DATA_DIR, so the compiled code has a folder of its own in the volume.
ENV HOST=0.0.0.0 \
  PORT=3000 \
  DATA_DIR=/data/alcove \
  NODE_COMPILE_CACHE=/data/compiled \
  TMPDIR=/data \
  PATH=/app/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
USER 1000:1000
WORKDIR /app
VOLUME /data
EXPOSE 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["/app/bin/alcove", "health"]
ENTRYPOINT ["/app/bin/alcove"]
