import { readFile } from 'node:fs/promises'
import type { Plugin } from 'vite'

/** Writing JSON schemas, which the page never does, is a third of zod; every schema has a method for it. */
const JSON_SCHEMA = /\/zod\/v4\/core\/(json-schema-processors|to-json-schema)\.js$/

export function zodWithoutJsonSchema(): Plugin {
  return {
    name: 'zod-without-json-schema',
    apply: 'build',
    enforce: 'pre',
    async load(id) {
      if (!JSON_SCHEMA.test(id)) return undefined
      const source = await readFile(id, 'utf8')
      const names = [
        ...[...source.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name = '']) => name),
        ...[...source.matchAll(/^export \{ \w+ as (\w+) \}/gm)].map(([, name = '']) => name),
      ]
      return [
        'const refuse = () => { throw new Error("The page writes no JSON schemas.") }',
        'const refusing = () => refuse',
        ...names.map((name) => `export { ${name.startsWith('create') ? 'refusing' : 'refuse'} as ${name} }`),
      ].join('\n')
    },
  }
}
