import { useQuery, useQueryClient } from '@tanstack/react-query'
import { X } from 'lucide-react'
import { useState, type JSX } from 'react'
import { createRecoveryCodes, recoveryCodesQuery, removeFactor } from '#web/data/account/account.ts'
import { config } from '#web/data/config.ts'
import type { User } from '#web/data/auth/session.ts'
import { formatFullDay } from '#web/lib/format/format-day.ts'
import { Button } from '#web/ui/button.tsx'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { EnrolDialog } from './enrol-dialog.tsx'
import { PhoneDialog } from './phone-dialog.tsx'
import { RecoveryCodesDialog } from './recovery-codes-dialog.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText, Section } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

type Factor = NonNullable<User['factors']>[number]

function FactorRow({ factor, isLast }: { factor: Factor; isLast: boolean }): JSX.Element {
  const queryClient = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const { busy, errorMessage, run } = useAttempt()
  const name = factor.friendly_name ?? 'Authenticator app'
  return (
    <li>
      <div className={styles.row}>
        <div className={styles.words}>
          <p className={styles.value}>{name}</p>
          <p className={styles.caption}>Added {formatFullDay(factor.created_at, 'short')}</p>
        </div>
        <Button
          variant="ghost"
          size="icon"
          aria-label={`Remove ${name}`}
          disabled={busy}
          onClick={() => setAsking(true)}
        >
          <X size={15} />
        </Button>
      </div>
      <ErrorText>{errorMessage}</ErrorText>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={isLast ? 'Turn two-factor off' : `Remove ${name}`}
        description={
          isLast
            ? 'From then on your password alone signs you in, and your recovery codes are worth nothing.'
            : 'Its codes will not be accepted any more. What else you have stays.'
        }
        confirmLabel={isLast ? 'Turn off' : 'Remove'}
        onConfirm={() => void run(() => removeFactor(queryClient, factor.id))}
      />
    </li>
  )
}

export function TwoFactorSection({ user }: { user: User }): JSX.Element {
  const queryClient = useQueryClient()
  const [enrolling, setEnrolling] = useState<'app' | 'phone' | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const { busy, errorMessage, run } = useAttempt()
  const factors = (user.factors ?? []).filter(({ status }) => status === 'verified')
  const isOn = factors.length > 0
  const remaining = useQuery({ ...recoveryCodesQuery, enabled: isOn }).data?.remaining

  const renewCodes = (): Promise<boolean> =>
    run(async () => {
      setCodes(await createRecoveryCodes(queryClient))
    })
  const finish = (): void => {
    setEnrolling(null)
    if (!isOn) void renewCodes()
  }
  return (
    <Section title="Two-factor sign-in">
      {isOn ? (
        <ul className={styles.list} aria-label="Second factors">
          {factors.map((factor) => (
            <FactorRow key={factor.id} factor={factor} isLast={factors.length === 1} />
          ))}
        </ul>
      ) : (
        <p className={styles.caption}>
          With a code from your phone beside the password, nobody signs in who has only the password.
        </p>
      )}
      {isOn && remaining !== undefined && (
        <p className={styles.caption} role="status">
          {remaining === 0
            ? 'You have no recovery codes. Without them a lost phone locks you out.'
            : `${remaining} recovery ${remaining === 1 ? 'code is' : 'codes are'} left.`}
        </p>
      )}
      <div className={styles.actions}>
        <Button variant="outline" size="sm" onClick={() => setEnrolling('app')}>
          {isOn ? 'Add another app' : 'Turn on'}
        </Button>
        {config().hasTextMessages && (
          <Button variant="outline" size="sm" onClick={() => setEnrolling('phone')}>
            Add a phone
          </Button>
        )}
        {isOn && (
          <Button variant="outline" size="sm" disabled={busy} onClick={() => void renewCodes()}>
            New recovery codes
          </Button>
        )}
      </div>
      <ErrorText>{errorMessage}</ErrorText>
      {enrolling === 'app' && (
        <EnrolDialog ordinal={factors.length + 1} onClose={() => setEnrolling(null)} onVerified={finish} />
      )}
      {enrolling === 'phone' && <PhoneDialog onClose={() => setEnrolling(null)} onVerified={finish} />}
      {codes !== null && <RecoveryCodesDialog codes={codes} email={user.email ?? ''} onClose={() => setCodes(null)} />}
    </Section>
  )
}
