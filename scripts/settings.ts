/** Writes `.env.example` and docs/configuration.md from server/config.ts, or with `--check` fails where they differ. */
import { readFile, writeFile } from 'node:fs/promises'
import { SETTINGS } from '#server/config.ts'

const environmentFile = [
  '# Every setting with its default. Copy this file to `.env`, or set variables in the environment, which wins. Written by `npm run settings`.',
  ...Object.entries(SETTINGS).map(
    ([name, { explains, wants, example }]) => `\n# ${explains} Value: ${wants}.\n#${name}=${example}`,
  ),
  '',
].join('\n')

const configurationPage = [
  '# Configuration',
  '',
  'Settings come from the environment or from a file `.env` next to `package.json`; the environment wins. A wrong value stops the start',
  'with one sentence. `npm run settings` writes this page from `server/config.ts`.',
  '',
  '| Setting | Default | What it does |',
  '| --- | --- | --- |',
  ...Object.entries(SETTINGS).map(
    ([name, { explains, wants, example }]) =>
      `| \`${name}\` | ${example === '' ? 'not set' : `\`${example}\``} | ${explains} Value: ${wants}. |`,
  ),
  '',
].join('\n')

const pages = { '.env.example': environmentFile, 'docs/configuration.md': configurationPage }
for (const [file, wanted] of Object.entries(pages)) {
  const address = new URL(`../${file}`, import.meta.url)
  if (!process.argv.includes('--check')) await writeFile(address, wanted)
  else if ((await readFile(address, 'utf8').catch(() => '')) !== wanted) {
    console.error(`${file} does not match server/config.ts. Run npm run settings.`)
    process.exitCode = 1
  }
}
