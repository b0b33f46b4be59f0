import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { afterFirstReads } from '#web/data/after-first-reads.ts'

/** Whether the first view is there, after which less urgent parts may load. */
export function useAfterFirstReads(): boolean {
  const queryClient = useQueryClient()
  const [isDue, setDue] = useState(false)
  useEffect(() => afterFirstReads(queryClient, () => setDue(true)), [queryClient])
  return isDue
}
