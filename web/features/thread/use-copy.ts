import { useEffect, useState } from 'react'

const SHOWN_MS = 1500

/** Copies a text; `copied` is true for a moment afterwards. */
export function useCopy(text: string): { copied: boolean; copy: () => void } {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [copied])
  return {
    copied,
    copy: () => {
      navigator.clipboard.writeText(text).then(
        () => setCopied(true),
        (error: unknown) => console.error(error),
      )
    },
  }
}
