/** For every response that is not a page of ours: opened in a browser it has an opaque origin, runs and loads nothing. */
export const INERT_CONTENT_POLICY =
  "sandbox; default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
