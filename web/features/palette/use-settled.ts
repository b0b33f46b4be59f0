import { useEffect, useState } from 'react'

/** The value after `quietMs` without a change, so that typing causes one request. */
export function useSettled<T>(value: T, quietMs: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), quietMs)
    return () => clearTimeout(timer)
  }, [value, quietMs])
  return settled
}
