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

/** As `PropertyDescriptor`, but its functions are only compared. */
interface Property {
  readonly value?: unknown
  readonly get?: unknown
  readonly set?: unknown
  readonly writable?: boolean
  readonly enumerable?: boolean
  readonly configurable?: boolean
}

interface NotedObject {
  readonly owner: object
  readonly prototype: object | null
  readonly keys: readonly PropertyKey[]
  readonly properties: readonly (Property | undefined)[]
}

const { ownKeys, getPrototypeOf } = Reflect
const { is, getOwnPropertyDescriptor } = Object

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
    const keys = ownKeys(owner)
    const properties = keys.map((key): Property | undefined => getOwnPropertyDescriptor(owner, key))
    noted.push({ owner, prototype, keys, properties })
    waiting.push(prototype)
    for (const found of properties) waiting.push(found?.value, found?.get, found?.set)
  }
  return noted
}

const isEqual = (one: Property | undefined, other: Property | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  is(one.value, other.value) &&
  one.get === other.get &&
  one.set === other.set &&
  one.writable === other.writable &&
  one.enumerable === other.enumerable &&
  one.configurable === other.configurable

function isChanged({ owner, prototype, keys, properties }: NotedObject): boolean {
  if (getPrototypeOf(owner) !== prototype || ownKeys(owner).length !== keys.length) return true
  return keys.some((key, index) => !isEqual(properties[index], getOwnPropertyDescriptor(owner, key)))
}

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
