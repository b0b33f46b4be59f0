import { createContext, use, useMemo, type JSX, type ReactNode } from 'react'

type PositionAttributes = { 'aria-posinset'?: number; 'aria-setsize': number }

const PositionContext = createContext<PositionAttributes | null>(null)

type ThreadPositionProps = {
  /** Counted from 1; null while older messages are not loaded. */
  position: number | null
  total: number | null
  children: ReactNode
}

export function ThreadPosition({ position, total, children }: ThreadPositionProps): JSX.Element {
  const value = useMemo(
    (): PositionAttributes => ({
      ...(position === null ? {} : { 'aria-posinset': position }),
      'aria-setsize': total ?? -1,
    }),
    [position, total],
  )
  return <PositionContext value={value}>{children}</PositionContext>
}

export const useThreadPosition = (): PositionAttributes | null => use(PositionContext)
