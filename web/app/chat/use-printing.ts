import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect } from 'react'
import { afterFirstReads } from '#web/data/after-first-reads.ts'
import type { Printed, ShownOnPage } from '#web/features/print/print-page.tsx'
import { SHORTCUTS } from '#web/lib/shortcuts.ts'
import { toast } from '#web/ui/toast.tsx'
import { useShortcut } from '#web/ui/use-shortcut.ts'

const loadPrinting = () => import('#web/features/print/print-page.tsx')

/** Prints what the page shows, also by the browser's own command. @returns prints something as a whole */
export function usePrinting({ chatId, documentId }: ShownOnPage): (printed: Printed | null) => void {
  const queryClient = useQueryClient()
  useEffect(() => {
    let stop = (): void => undefined
    let isLeft = false
    const giveUp = afterFirstReads(queryClient, () => {
      loadPrinting().then(
        ({ followPrinting }) => {
          if (!isLeft) stop = followPrinting({ chatId, documentId }, queryClient)
        },
        (error: unknown) => console.error(error),
      )
    })
    return () => {
      isLeft = true
      giveUp()
      stop()
    }
  }, [queryClient, chatId, documentId])
  const print = useCallback(
    (printed: Printed | null) => {
      loadPrinting()
        .then((printing) =>
          printed === null
            ? printing.printShown({ chatId, documentId }, queryClient)
            : printing.print(printed, queryClient),
        )
        .catch((error: unknown) => {
          console.error(error)
          toast({ title: 'Error', description: 'This could not be loaded for printing.', variant: 'destructive' })
        })
    },
    [queryClient, chatId, documentId],
  )
  useShortcut(SHORTCUTS.print, () => print(null))
  return print
}
