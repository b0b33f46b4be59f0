import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'
import { afterFirstReads } from '#web/data/after-first-reads.ts'
import type { Printed, ShownOnPage } from '#web/app/print/print-page.tsx'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { toast } from '#web/ui/toast.tsx'
import { useShortcut } from '#web/ui/use-shortcut.ts'

/** For the browser's own menu; Ctrl+P announces itself by its first key. */
const LOADED_AFTER_MS = 20_000
const FIRST_KEYS = new Set(['Control', 'Meta'])

/** Prints what the page shows, also by the browser's own command. @returns prints something as a whole */
export function usePrinting({ chatId, documentId }: ShownOnPage): (printed: Printed | null) => void {
  const queryClient = useQueryClient()
  const following = useRef<Promise<() => void> | null>(null)
  const shown = useRef<ShownOnPage>({ chatId, documentId })
  const isPrinting = useRef(false)
  /** Aborts when the page shows something else. */
  const ending = useRef(new AbortController())
  const follow = useCallback(() => {
    following.current ??= import('#web/app/print/print-page.tsx').then(({ followPrinting }) =>
      followPrinting(shown.current, queryClient),
    )
    following.current.catch(() => (following.current = null))
    return following.current
  }, [queryClient])
  useEffect(() => {
    shown.current = { chatId, documentId }
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = (): void => {
      follow().catch((error: unknown) => console.error(error))
    }
    const giveUp = afterFirstReads(queryClient, () => {
      timer = setTimeout(load, LOADED_AFTER_MS)
    })
    const showing = new AbortController()
    ending.current = showing
    const onKey = ({ key }: KeyboardEvent): void => {
      if (FIRST_KEYS.has(key)) load()
    }
    addEventListener('keydown', onKey, { signal: showing.signal })
    return () => {
      showing.abort()
      giveUp()
      clearTimeout(timer)
      following.current?.then(
        (stop) => stop(),
        () => undefined,
      )
      following.current = null
    }
  }, [queryClient, follow, chatId, documentId])
  const print = useCallback(
    async (printed: Printed | null) => {
      if (isPrinting.current) return
      isPrinting.current = true
      const { signal } = ending.current
      try {
        // Without it, paper would show the page too.
        await follow()
        const printing = await import('#web/app/print/print-page.tsx')
        await (printed === null
          ? printing.printShown(shown.current, queryClient, signal)
          : printing.print(printed, queryClient, signal))
      } catch (error) {
        console.error(error)
        toast({ title: 'Error', description: 'This could not be loaded for printing.', variant: 'destructive' })
      } finally {
        isPrinting.current = false
      }
    },
    [queryClient, follow],
  )
  const begin = useCallback((printed: Printed | null) => void print(printed), [print])
  useShortcut(SHORTCUTS.print, () => begin(null))
  return begin
}
