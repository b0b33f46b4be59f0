/** `npm run bench -- <name> [args]`: runs one figure and prints it as one JSON line, the last of its output. */
const FIGURES = [
  'all',
  'backup',
  'start',
  'first-token',
  'replies',
  'change',
  'rest',
  'neighbours',
  'sockets',
  'storage',
  'sign-in',
  'idle',
  'page',
  'ingest',
  'ingest-chat',
  'hostile',
  'reading',
  'highlight',
  'retrieval',
  'questions',
  'claims',
  'search',
  'message-search',
  'spaces',
  'spaces-live',
  'growth',
] as const

const [name = '', ...args] = process.argv.slice(2)
const figure = FIGURES.find((known) => known === name)
if (figure === undefined) {
  console.error(`Name one of ${FIGURES.join(', ')}.`)
  process.exit(1)
}
const { run } = (await import(`./${figure}.ts`)) as { run: (args: string[]) => Promise<Record<string, unknown>> }
console.log(JSON.stringify({ figure, ...(await run(args)) }))
process.exit()
