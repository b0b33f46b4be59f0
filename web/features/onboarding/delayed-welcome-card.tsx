import { useEffect, useState, type JSX } from 'react'
import { loadable } from '#web/ui/loadable.tsx'
import type { WelcomeCardProps } from './welcome-card.tsx'

const DELAY_MS = 300

const WelcomeCard = loadable(() => import('./welcome-card.tsx'))

/** Only new people see the card: its code loads meanwhile. */
export function DelayedWelcomeCard(props: WelcomeCardProps): JSX.Element | null {
  const [due, setDue] = useState(false)
  useEffect(() => {
    WelcomeCard.preload()
    const timer = setTimeout(() => setDue(true), DELAY_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!due) return null
  return <WelcomeCard {...props} />
}
