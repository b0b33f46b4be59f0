/** Long files, which shorter ones overtake: one at a time, so that at most one more file takes memory. */
export interface LongFiles {
  /** Calls `stepAside` once `read` takes long and no other file is overtaken. `read` may step aside at once. */
  run<T>(stepAside: () => void, read: (stepAside: () => void) => Promise<T>): Promise<T>
}

export function createLongFiles(afterMs: number): LongFiles {
  let overtaken: symbol | undefined
  const waiting = new Set<() => void>()
  return {
    async run(stepAside, read) {
      const file = Symbol('file')
      const letOthersPass = () => {
        if (overtaken === undefined) {
          waiting.delete(letOthersPass)
          overtaken = file
          stepAside()
        } else waiting.add(letOthersPass)
      }
      const release = () => {
        clearTimeout(timer)
        waiting.delete(letOthersPass)
        if (overtaken !== file) return
        overtaken = undefined
        const [next] = waiting
        next?.()
      }
      const timer = setTimeout(letOthersPass, afterMs)
      try {
        return await read(() => {
          stepAside()
          release()
        })
      } finally {
        release()
      }
    },
  }
}
