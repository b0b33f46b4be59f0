/**
 * Refuses private language in the code: comments that begin with an inverted sentence, words that hide their subject, and
 * identifiers made of invented terms where the field has a standard one (docs/glossary.md). Migrations are left out: their
 * text is part of their checksum.
 */
import { globSync, readFileSync } from 'node:fs'
import ts from 'typescript'

const FILES = '{contract,server,web,test,e2e,bench,scripts}/**/*.{ts,tsx,mjs}'
const INVERTED_START = /^(of|what|whoever|who|so many|so much|the same|for once)\b/i
const HIDDEN_SUBJECT = /\b(whoever|anew|somebody|nobody)\b/i

/** Each entry matches one word of an identifier, or an identifier as a whole, and names the term to use instead. */
const INVENTED_TERMS: readonly (readonly [pattern: RegExp, standard: string])[] = [
  [/^kept/i, 'cache, saved or stored'],
  [/^(createGate|passToRead|createSlots|slots)$/i, 'semaphore'],
  [/persever|^sendAgain/i, 'retry'],
  [/silence|patience/i, 'idle timeout, wait limit'],
  [/^(un)?seal(ed|s)?(?![a-z])/i, 'encrypt, or block for a sandbox'],
  [/precedence/i, 'background throttling, foreground priority'],
  [/^(door)?bells?$|^ringBell|doorbell/i, 'notification'],
  [/handover/i, 'direct dispatch'],
  [/tellAhead|^toldAhead/i, 'early delivery, async commit'],
  [/nearness/i, 'proximity, similarity'],
  [/^intake/i, 'backpressure'],
  [/^tapText|textTap/i, 'read text deltas'],
  [/mishap/i, 'failure'],
  [/practiceLines/i, 'warm-up image'],
  [/^material$|^gatherMaterial/i, 'reply context'],
]

/** Names that programs or stored rows know. */
const WIRE_NAMES: ReadonlySet<string> = new Set(['nearness'])
/** Columns and settings keep their names: migrations and installations know them. */
const COLUMN_OR_SETTING = /_/

interface Finding {
  readonly file: string
  readonly line: number
  readonly message: string
}

const textOfComment = (comment: string): string => comment.replace(/^\/\*\*?|^\/\/+/, '').replace(/^[\s*]+/, '')

function checkComment(comment: string): string | undefined {
  const text = textOfComment(comment)
  const start = INVERTED_START.exec(text)?.[0]
  if (start) return `a comment begins with "${start}": begin with its subject`
  const word = HIDDEN_SUBJECT.exec(text)?.[0]
  return word ? `a comment says "${word}": name the subject` : undefined
}

function checkIdentifier(name: string): string | undefined {
  if (WIRE_NAMES.has(name) || COLUMN_OR_SETTING.test(name)) return undefined
  const found = INVENTED_TERMS.find(([pattern]) => pattern.test(name))
  return found ? `"${name}" is an invented term: use ${found[1]}` : undefined
}

function checkFile(file: string): Finding[] {
  const text = readFileSync(file, 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const findings: Finding[] = []
  const note = (position: number, message: string | undefined) => {
    if (message) findings.push({ file, line: source.getLineAndCharacterOfPosition(position).line + 1, message })
  }
  const comments = new Map<number, number>()
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) comments.set(range.pos, range.end)
    for (const range of ts.getTrailingCommentRanges(text, node.getEnd()) ?? []) comments.set(range.pos, range.end)
    if (ts.isIdentifier(node)) note(node.getStart(source), checkIdentifier(node.text))
    node.getChildren(source).forEach(visit)
  }
  visit(source)
  for (const [start, end] of comments) note(start, checkComment(text.slice(start, end)))
  return findings
}

const findings = globSync(FILES).sort().flatMap(checkFile)
for (const { file, line, message } of findings) console.error(`${file}:${line}: ${message}`)
if (findings.length > 0) {
  console.error(
    `\n${findings.length} places in private language: docs/glossary.md has the terms, CONTRIBUTING.md the rules.`,
  )
  process.exit(1)
}
