/** Files that take long to read, which shorter ones overtake: one at a time, so that no more than one of them shares the memory. */
export interface LongReadings {
  /**
   * Where `read` takes long, and no other file is being overtaken, `stepAside` is called meanwhile.
   * @param read told how to step aside by itself, as for something that is limited elsewhere.
   */
  during<T>(stepAside: () => void, read: (stepAside: () => void) => Promise<T>): Promise<T>
}

export function createLongReadings(afterMs: number): LongReadings {
  /** The one that is being overtaken. */
  let overtaken: symbol | undefined
  const waiting = new Set<() => void>()
  return {
    async during(stepAside, read) {
      const own = Symbol('reading')
      const letPass = () => {
        if (overtaken === undefined) {
          waiting.delete(letPass)
          overtaken = own
          stepAside()
        } else waiting.add(letPass)
      }
      const leave = () => {
        clearTimeout(timer)
        waiting.delete(letPass)
        if (overtaken !== own) return
        overtaken = undefined
        const [next] = waiting
        next?.()
      }
      const timer = setTimeout(letPass, afterMs)
      try {
        return await read(() => {
          stepAside()
          leave()
        })
      } finally {
        leave()
      }
    },
  }
}
