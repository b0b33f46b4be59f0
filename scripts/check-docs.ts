/** Fails where a page of the documentation names a file or folder of the repository that does not exist. */
import { existsSync, globSync, readFileSync } from 'node:fs'

const PAGES = ['*.md', 'docs/**/*.md', 'server/**/*.md']
/** A path in code marks that begins with a folder of the repository and holds no placeholder. */
const NAMED_PATH = /`((?:server|web|contract|test|e2e|bench|scripts|docs)\/[\w./-]+)`/g

const missing = PAGES.flatMap((pattern) => globSync(pattern)).flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(NAMED_PATH)]
    .map(([, named = '']) => named)
    .filter((named) => !existsSync(named))
    .map((named) => `${page} names ${named}, which does not exist.`),
)
for (const sentence of missing) console.error(sentence)
if (missing.length > 0) process.exit(1)
