/** Writes `.env.example` and docs/configuration.md from server/config.ts, or with `--check` fails where they differ. */
import { readFile, writeFile } from 'node:fs/promises'
import { SETTINGS } from '#server/config.ts'

const environmentFile = [
  '# Every setting with its default. Copy to `.env`, or set in the environment, which wins. Written by `npm run settings`.',
  ...Object.entries(SETTINGS).map(
    ([name, { explains, wants, example }]) => `\n# ${explains} Wants ${wants}.\n#${name}=${example}`,
  ),
  '',
].join('\n')

const configurationPage = [
  '# Configuration',
  '',
  'Set in the environment or in a file `.env` beside `package.json`; the environment wins. A wrong value stops the start with',
  'one sentence. This page is written by `npm run settings` from `server/config.ts`.',
  '',
  '| Setting | Default | What it does |',
  '| --- | --- | --- |',
  ...Object.entries(SETTINGS).map(
    ([name, { explains, wants, example }]) =>
      `| \`${name}\` | ${example === '' ? 'not set' : `\`${example}\``} | ${explains} Wants ${wants}. |`,
  ),
  '',
].join('\n')

const pages = { '.env.example': environmentFile, 'docs/configuration.md': configurationPage }
for (const [file, wanted] of Object.entries(pages)) {
  const address = new URL(`../${file}`, import.meta.url)
  if (!process.argv.includes('--check')) await writeFile(address, wanted)
  else if ((await readFile(address, 'utf8').catch(() => '')) !== wanted) {
    console.error(`${file} is not what server/config.ts says. Run npm run settings.`)
    process.exitCode = 1
  }
}
