import { useState, type JSX } from 'react'
import type { User } from '#web/data/auth/session.ts'
import { sendPhoneCode, verifyFactorCode, verifyPhoneCode, verifyRecoveryCode } from '#web/data/auth/sign-in.ts'
import { Button } from '#web/ui/button.tsx'
import { TextField } from '#web/ui/text-field.tsx'
import { CodeField } from './code-field.tsx'
import { isSame, factorMethodsOf, switchLabel, wordsOf, type FactorMethod } from './factor-methods.ts'
import { FormHeading } from './form-heading.tsx'
import { SwitchAccountButton } from './switch-account-button.tsx'
import styles from './login-form.module.css'
import { useSignInStep } from './use-sign-in-step.ts'

function verifyWith(means: FactorMethod, code: string): Promise<void> {
  if (means.kind === 'app') return verifyFactorCode(code)
  if (means.kind === 'recovery') return verifyRecoveryCode(code.trim())
  return verifyPhoneCode(means.factorId, means.challengeId ?? '', code)
}

export default function FactorForm({ user }: { user: User }): JSX.Element {
  const all = factorMethodsOf(user)
  const [means, setMeans] = useState<FactorMethod>(all[0])
  const [code, setCode] = useState('')
  const { busy, error, submit, run } = useSignInStep()
  const isUnsent = means.kind === 'phone' && means.challengeId === null

  const turnTo = (other: FactorMethod): void => {
    setMeans(other)
    setCode('')
  }
  const send = async (): Promise<void> => {
    if (means.kind === 'phone') turnTo({ ...means, challengeId: await sendPhoneCode(means.factorId) })
  }
  const verify = async (): Promise<void> => {
    try {
      await verifyWith(means, code)
    } catch (failure) {
      setCode('')
      throw failure
    }
  }

  return (
    <form className={styles.form} onSubmit={submit(isUnsent ? send : verify)} aria-labelledby="login-title">
      <FormHeading {...wordsOf(means)} />
      {means.kind === 'recovery' ? (
        <TextField
          key="recovery"
          label="Recovery code"
          name="recovery-code"
          required
          autoFocus
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          placeholder="xxxxx-xxxxx"
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
      ) : (
        !isUnsent && <CodeField key={means.kind} label="Six-digit code" value={code} onChange={setCode} />
      )}
      {error !== null && (
        <p role="alert" className={styles.error}>
          {error}
        </p>
      )}
      <Button type="submit" size="lg" disabled={busy}>
        {busy ? 'Processing...' : isUnsent ? 'Send the code' : 'Continue'}
      </Button>
      <div className={styles.links}>
        {means.kind === 'phone' && !isUnsent && (
          <Button variant="link" disabled={busy} onClick={() => void run(send)}>
            Send another code
          </Button>
        )}
        {all
          .filter((other) => !isSame(other, means))
          .map((other) => (
            <Button key={switchLabel(other)} variant="link" onClick={() => turnTo(other)}>
              {switchLabel(other)}
            </Button>
          ))}
        <SwitchAccountButton email={user.email ?? ''} busy={busy} run={run} />
      </div>
    </form>
  )
}
