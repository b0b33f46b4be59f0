import { FILE_TYPES } from '#contract/file-types.ts'
import { parseCommands } from '#server/assistant/tools/commands.ts'

const MAX_QUESTION_TITLE_CHARACTERS = 60
const MAX_MODEL_TITLE_CHARACTERS = 100
const MAX_WORDS = 8
const MAX_READ_CHARACTERS = 1_000

/** Punctuation that ends a sentence or opens a cut-off part; signs of a word, as in `C#` or `50%`, stay. */
const DANGLING = /[\s.,;:!?…·。、，；：？！．؟،؛।\-–—([{¿¡"'“„«‘]+$/u

const withoutDangling = (text: string) => text.replace(DANGLING, '')

const EXTENSIONS = FILE_TYPES.flatMap(({ extensions }) => extensions).join('|')
const LEADING_DOCUMENT_NAMES = new RegExp(`^(?:(?:"[^"]+"|\\S+\\.(?:${EXTENSIONS}))[,:]*\\s*)+`, 'i')

function withoutCommands(question: string): string {
  const { calls, text } = parseCommands(question)
  const asked = calls.length > 0 ? text.replace(LEADING_DOCUMENT_NAMES, '').trim() : question
  return asked === '' ? question : asked
}

/** The question in one line, cut between words with an ellipsis; empty without readable text. */
export function titleFromQuestion(question: string): string {
  const line = withoutCommands(question).replace(/\s+/g, ' ').trim().slice(0, MAX_READ_CHARACTERS)
  let title = ''
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(line)) {
    if (title.length + segment.length > MAX_QUESTION_TITLE_CHARACTERS) break
    title += segment
  }
  // A single word may exceed the limit, and a question may be nothing but punctuation.
  if (title === '') title = Array.from(line).slice(0, MAX_QUESTION_TITLE_CHARACTERS).join('')
  const [words, all] = [withoutDangling(title) || title, withoutDangling(line) || line]
  return words === all ? words : `${words}…`
}

export function titleFromModel(written: string): string | undefined {
  const line = written
    .slice(0, MAX_READ_CHARACTERS)
    .split('\n')
    .map((part) =>
      part
        .replace(/[*_`#>"“”„«»]/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    ) // prettier-ignore
    .find((part) => part !== '')
  if (line === undefined) return undefined
  const title = withoutDangling(line.replace(/^title\s*:\s*/i, ''))
  const isTitle = title !== '' && title.length <= MAX_MODEL_TITLE_CHARACTERS && title.split(' ').length <= MAX_WORDS
  return isTitle ? title : undefined
}
