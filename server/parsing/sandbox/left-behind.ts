/**
 * Finds what a file leaves in its process for later files: timers without reference, changed globals. This is not a
 * boundary against a file that runs code of its own, which could forge the answers (docs/decisions/018-many-files-in-one-parser-process.md).
 */
/** Call before libraries are loaded: a timer without reference would not keep the event loop from being empty. */
export function keepTimersReferenced(): void {
  const timer = setTimeout(() => undefined, 0)
  const prototype = Reflect.getPrototypeOf(timer) ?? {}
  Object.defineProperty(prototype, 'unref', {
    value(this: NodeJS.Timeout) {
      return this
    },
    writable: false,
    configurable: false,
  })
  clearTimeout(timer)
}

type Properties = readonly (readonly [PropertyKey, PropertyDescriptor | undefined])[]

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function'

/** Intrinsic objects that no global names. */
const HIDDEN = [
  async () => undefined,
  function* generate() {
    yield 0
  },
  async function* generate() {
    yield 0
  },
  [][Symbol.iterator](),
  new Map().entries(),
  new Set().values(),
  ''[Symbol.iterator](),
  ''.matchAll(/./g),
]

interface NotedObject {
  readonly owner: object
  readonly prototype: object | null
  readonly properties: Properties
}

const { ownKeys, getOwnPropertyDescriptor, getPrototypeOf } = Reflect
const { is } = Object

function noteObjects(roots: readonly unknown[]): NotedObject[] {
  const noted: NotedObject[] = []
  // Its figures and open requests change with every file; `lock-down.ts` has fixed its functions.
  const seen = new Set<unknown>([process])
  const waiting = [...roots]
  while (waiting.length > 0) {
    const owner = waiting.pop()
    if (!isObject(owner) || seen.has(owner)) continue
    seen.add(owner)
    const prototype = getPrototypeOf(owner)
    const properties = ownKeys(owner).map((key) => [key, getOwnPropertyDescriptor(owner, key)] as const)
    noted.push({ owner, prototype, properties })
    waiting.push(prototype, ...properties.flatMap(([, found]): unknown[] => [found?.value, found?.get, found?.set]))
  }
  return noted
}

const isEqual = (one: PropertyDescriptor | undefined, other: PropertyDescriptor | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  is(one.value, other.value) &&
  one.get === other.get &&
  one.set === other.set &&
  one.writable === other.writable &&
  one.configurable === other.configurable

const isChanged = ({ owner, prototype, properties }: NotedObject): boolean =>
  getPrototypeOf(owner) !== prototype ||
  ownKeys(owner).length !== properties.length ||
  properties.some(([key, before]) => !isEqual(before, getOwnPropertyDescriptor(owner, key)))

/**
 * Call after libraries are loaded. The function returned tells whether a global, a module of Node, or what these lead to, is
 * another now. The module `module` is left out: libraries load parts of themselves when a file needs them.
 */
export function noteGlobalState(modules: Iterable<string>): () => boolean {
  const roots = [
    globalThis,
    ...HIDDEN,
    ...[...modules].filter((name) => name !== 'module').map((name) => process.getBuiltinModule(name)),
  ]
  // V8 creates some properties when they are first looked at.
  noteObjects(roots)
  const noted = noteObjects(roots)
  return () => {
    // The last input that matched would stay readable as `RegExp.input`.
    ''.match(/^/)
    return noted.some(isChanged)
  }
}
