import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, type JSX } from 'react'
import { createRecoveryCodes } from '#web/data/account/account.ts'
import { useUser } from '#web/data/auth/auth-context.tsx'
import { clearFirstRecoveryCodes } from '#web/data/account/first-recovery-codes.ts'
import { toast } from '#web/ui/toast.tsx'
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx'

export default function FirstRecoveryCodes(): JSX.Element | null {
  const user = useUser()
  const queryClient = useQueryClient()
  const [codes, setCodes] = useState<string[] | null>(null)

  useEffect(() => {
    createRecoveryCodes(queryClient).then(setCodes, (error: unknown) => {
      console.error(error)
      toast({
        title: 'No recovery codes yet',
        description: 'They could not be made now. The users tab offers them.',
        variant: 'destructive',
      })
    })
  }, [queryClient])

  const close = (): void => {
    clearFirstRecoveryCodes()
    setCodes(null)
  }
  return codes === null ? null : <RecoveryCodesDialog codes={codes} email={user.email ?? ''} onClose={close} />
}
