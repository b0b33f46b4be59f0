/** Every watched figure: how to measure it, its goal and its last noted value. */

export interface NotedFigure {
  readonly title: string
  /** Path of the value in the benchmark's JSON line. */
  readonly value: string
  readonly goal: number | null
  readonly better: 'lower' | 'higher'
  /** As docs/scale.md, docs/retrieval.md or the last change of that code noted it, on two idle cores. */
  readonly noted: number
}

export interface NotedBenchmark {
  readonly name: string
  /** `{data}` is the folder of test data (ALCOVE_TEST_DATA); without it, benchmarks that need it are skipped. */
  readonly args: readonly string[]
  readonly figures: readonly NotedFigure[]
}

const lower = (title: string, value: string, goal: number | null, noted: number): NotedFigure => ({
  title,
  value,
  goal,
  better: 'lower',
  noted,
})
const higher = (title: string, value: string, goal: number | null, noted: number): NotedFigure => ({
  ...lower(title, value, goal, noted),
  better: 'higher',
})

export const NOTED_BENCHMARKS: readonly NotedBenchmark[] = [
  {
    name: 'spaces-live',
    args: [],
    figures: [
      lower('first text in a space of 50, ratio', 'firstText.ratio', 1.2, 1.17),
      lower('changes to 199 members p95, ratio', 'changes.ratio', 4, 3.7),
      lower('changes that were not exact', 'changes.inexact', 0, 0),
    ],
  },
  {
    name: 'spaces',
    args: ['{data}/collections/cranfield'],
    figures: [
      lower('list of conversations, ratio', 'list.ratio', 1.2, 0.99),
      lower('select of conversations, ratio', 'select.ratio', 1.2, 1.12),
      lower('search, ratio', 'search.ratio', 1.2, 0.98),
      lower('index with 200 members, ratio', 'indexRatio', 1, 1),
    ],
  },
  { name: 'start', args: [], figures: [lower('start less PostgreSQL, ms', 'lessPostgresMs', 700, 654)] },
  { name: 'idle', args: [], figures: [lower('idle process, MB', 'residentMb', 150, 145)] },
  {
    name: 'replies',
    args: [],
    figures: [
      lower('first text, ratio', 'first-text.ratio', 2.5, 1.74),
      lower('first text of twenty at once, ratio', 'twenty-at-once.ratio', 3, 2.15),
      lower('last token, ratio', 'long.lastToken.ratio', 5, 1.11),
      lower('joining half-way, ms', 'long.lateJoiner.ms', 150, 26),
      lower('burst of 200: first text p95, ratio', 'many.firstTextP95.ratio', 3, 1.55),
      lower('burst of 200: last token p95, ms', 'many.lastTokenP95Ms.ms', 200, 27),
      lower('burst of 200: processor time per token, ratio', 'many.cpuPerToken.ratio', 3, 1.09),
      lower('killed writer: writing again, s', 'kill.writingAgainAfterS', 10, 6.6),
    ],
  },
  { name: 'change', args: [], figures: [lower('change to subscriber, ratio', 'ratio', 2, 1.7)] },
  {
    name: 'sockets',
    args: [],
    figures: [
      lower('1,000 sockets p95, ratio', 'ratioOfP95', 8, 5),
      lower('idle socket, KiB', 'kibPerIdleSocket', 60, 16),
    ],
  },
  {
    name: 'rest',
    args: [],
    figures: [
      lower('select of 100 rows, ratio', 'ratio', 2.5, 2.4),
      higher('reads of 32 clients, share', 'share', 0.5, 0.82),
    ],
  },
  {
    name: 'neighbours',
    args: [],
    figures: [lower("one person at full speed, another's documents p95, ratio", 'worstRatio', 3, 10.54)],
  },
  {
    name: 'storage',
    args: [],
    figures: [
      higher('upload, share of a plain stream', 'uploadShare', 0.6, 0.69),
      higher('download, share of a plain stream', 'downloadShare', 0.6, 0.99),
      lower('memory grown, MiB', 'grownMib', 32, 22),
    ],
  },
  { name: 'sign-in', args: [], figures: [lower('sign-in less its hash, ms', 'restP50Ms', 15, 8.9)] },
  {
    name: 'page',
    args: [],
    figures: [
      lower('sign-in page script, kB', 'signInScriptKb', 90, 88.6),
      lower('chat page script, kB', 'chatScriptKb', 250, 248),
      lower('opening 10,000 messages against 100, ratio', 'openRatio', 1.3, 1.22),
      lower('messages moved while older ones load, px', 'movedPx', 0, 0),
      lower('tasks over 50 ms while scrolling', 'scrollLongTasks', 0, 0),
      lower('streaming script time, ratio', 'streamRatio', 1.15, 0.95),
      lower('burst script time, ms', 'burstScriptMs', 60, 77),
    ],
  },
  { name: 'ingest', args: [], figures: [lower('upload of 100 pages, ratio', 'ratio', 2, 1.28)] },
  {
    name: 'ingest-chat',
    args: [],
    figures: [
      lower('first text while reading, p95 ratio', 'p95Ratio', 1.5, 1.19),
      lower('files failed', 'failed', 0, 0),
    ],
  },
  {
    name: 'hostile',
    args: ['{data}/hostile'],
    figures: [
      lower('queries beside hostile files, p95 ratio', 'p95Ratio', 2, 1.31),
      lower('memory, MB', 'memoryMb', 1074, 1028),
    ],
  },
  {
    name: 'search',
    args: ['{data}/collections/cranfield'],
    figures: [
      lower('5,000 passages p50, ratio', 'libraries.5000.ratioP50', 0.15, 0.15),
      lower('100,000 passages p50, ratio', 'libraries.100000.ratioP50', 0.1, 0.03),
      lower('among 100 others p50, ratio', 'amongOthers.ratioP50', 1.2, 1),
      lower('index against the text', 'indexToText', 2, 0.49),
    ],
  },
  {
    name: 'growth',
    args: [],
    figures: [
      lower('sign-in to usable with 10,000 rows, ratio', 'page.usableRatio', 1.3, 1.07),
      lower('rows read until then, kB', 'page.rowKb', 100, 54),
      lower('DOM elements then', 'page.nodes', 3_000, 576),
      lower('keystroke in the history p95, ms', 'boxes.history.p95Ms', 100, 119),
      lower('keystroke in the history, longest task, ms', 'boxes.history.longestTaskMs', 50, 0),
      lower('keystroke in Files p95, ms', 'boxes.files.p95Ms', 100, 85),
      lower('keystroke in Files, longest task, ms', 'boxes.files.longestTaskMs', 50, 57),
      lower('keystroke in the palette p95, ms', 'boxes.palette.p95Ms', 100, 131),
      lower('keystroke in the palette, longest task, ms', 'boxes.palette.longestTaskMs', 50, 63),
      lower('1,000 text files, ratio', 'texts.ratio', 5, 1.26),
      lower('1,000 text files, s', 'texts.readyS', 60, 8.6),
      lower('memory grown by them, MB', 'texts.grownMb', 200, 99),
      lower('200 docx, ratio', 'office.docx.ratio', 1.5, 5.81),
      lower('100 pdf, ratio', 'office.pdf.ratio', 1.5, 1.16),
      lower('citation in 100,000 rows, ratio', 'documents.sheet.ratio', 1.5, 2.01),
      lower('citation in 8,700 sections, ratio', 'documents.text.ratio', 1.5, 1.1),
      lower('citation in 4,000 pages, ratio', 'documents.pdf.ratio', 1.5, 2.32),
      lower('200,000 passages p50, ratio', 'search.p50Ratio', 1.5, 2.14),
      lower('200,000 passages p95, ratio', 'search.p95Ratio', 1.5, 2.78),
      lower('first search after a start, ratio', 'search.firstRatio', 5, 1.24),
      lower('first text while 1,000 files are read p50, ratio', 'first-text.p50Ratio', 1.5, 2.25),
      lower('idle with 1,000 people, memory ratio', 'idle.residentRatio', 1.1, 1),
      lower('idle with 1,000 people, start ratio', 'idle.startRatio', 1.1, 0.9),
    ],
  },
  ...[
    ['cranfield', 0.4],
    ['dev-pdf-pages', 0.832],
    ['xquad-ar', 0.949],
    ['xquad-es', 0.972],
    ['xquad-ru', 0.96],
    ['xquad-zh', 0.966],
  ].map(([collection, noted]) => ({
    name: 'retrieval',
    args: [`{data}/collections/${collection}`],
    figures: [higher(`nDCG@10 of ${collection}`, 'nDCG@10', null, Number(noted))],
  })),
]
