import { useEffect, useState } from 'react'
import { copyText } from '#web/lib/copy-text.ts'
import { toast } from '#web/ui/toast.tsx'

const SHOWN_MS = 1500

/** Copies a text, or the text that a function returns on press; `copied` is true for a moment afterwards. */
export function useCopy(text: string | (() => string)): { copied: boolean; copy: () => void } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return {
    copied,
    copy: () => {
      copyText(typeof text === 'string' ? text : text()).then(
        () => setCopied(true),
        (error: unknown) => {
          console.error(error)
          toast({
            title: 'Nothing was copied',
            description: 'Your browser does not let this page copy. Select the text to copy it.',
            variant: 'destructive',
          })
        },
      )
    },
  }
}
