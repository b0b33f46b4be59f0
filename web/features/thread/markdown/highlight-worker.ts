/** Highlights code off the main thread; started by the first code block. */
import { common, createLowlight } from 'lowlight'
import type { CodeRole, CodeRun, HighlightAnswer, HighlightRequest } from './highlight.ts'

/** Longer code stays plain, in characters. */
const MAX_CODE_LENGTH = 100_000

/** Colour roles by highlight.js scope name. */
const ROLES: Record<string, CodeRole> = {
  keyword: 'keyword',
  operator: 'keyword',
  'selector-tag': 'keyword',
  tag: 'keyword',
  name: 'keyword',
  built_in: 'type',
  type: 'type',
  class: 'type',
  'selector-class': 'type',
  'selector-id': 'type',
  title: 'title',
  section: 'title',
  function: 'title',
  string: 'string',
  regexp: 'string',
  code: 'string',
  quote: 'string',
  link: 'string',
  addition: 'addition',
  deletion: 'deletion',
  number: 'number',
  literal: 'number',
  symbol: 'number',
  bullet: 'number',
  attr: 'attribute',
  attribute: 'attribute',
  property: 'attribute',
  variable: 'attribute',
  'template-variable': 'attribute',
  comment: 'comment',
  doctag: 'comment',
  meta: 'comment',
}

const lowlight = createLowlight(common)
type Node = ReturnType<typeof lowlight.highlight>['children'][number]

function roleOf(className: unknown): CodeRole | undefined {
  const names = Array.isArray(className) ? className.map(String) : []
  return names.flatMap((name) => ROLES[name.replace(/^hljs-/, '')] ?? [])[0]
}

/** Flattens the syntax tree: each text with the innermost role around it, adjacent equal roles merged. */
function collectRuns(nodes: readonly Node[], role: CodeRole | null, runs: CodeRun[]): CodeRun[] {
  for (const node of nodes) {
    if (node.type === 'element') collectRuns(node.children, roleOf(node.properties['className']) ?? role, runs)
    if (node.type !== 'text') continue
    const last = runs.at(-1)
    if (last?.role === role) last.text += node.value
    else runs.push({ role, text: node.value })
  }
  return runs
}

function highlight({ id, code, language }: HighlightRequest): HighlightAnswer {
  if (code.length > MAX_CODE_LENGTH || !lowlight.registered(language)) return { id, runs: null }
  return { id, runs: collectRuns(lowlight.highlight(language, code).children, null, []) }
}

addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => postMessage(highlight(data)))
