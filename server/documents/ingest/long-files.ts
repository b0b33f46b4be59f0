/** Long files, which shorter ones overtake: one at a time, so that at most one more file takes memory. */
export interface LongFiles {
  /** Calls `yieldSlot` once `read` takes long and no other file is overtaken. `read` may call it at once. */
  run<T>(yieldSlot: () => void, read: (yieldSlot: () => void) => Promise<T>): Promise<T>
}

export function createLongFiles(afterMs: number): LongFiles {
  let overtaken: symbol | undefined
  const waiting = new Set<() => void>()
  return {
    async run(yieldSlot, read) {
      const file = Symbol('file')
      const letOthersPass = () => {
        if (overtaken === undefined) {
          waiting.delete(letOthersPass)
          overtaken = file
          yieldSlot()
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
          yieldSlot()
          release()
        })
      } finally {
        release()
      }
    },
  }
}
