import type { JSX } from 'react'
import { signOut } from '#web/data/auth/session.ts'
import { Button } from '#web/ui/button.tsx'

type SwitchAccountButtonProps = { email: string; busy: boolean; run: (task: () => Promise<void>) => Promise<boolean> }

async function leave(): Promise<void> {
  const { error } = await signOut()
  if (error !== null) throw error
}

export function SwitchAccountButton({ email, busy, run }: SwitchAccountButtonProps): JSX.Element {
  return (
    <Button variant="link" disabled={busy} onClick={() => void run(leave)}>
      {`Not ${email}? Sign in as somebody else`}
    </Button>
  )
}
