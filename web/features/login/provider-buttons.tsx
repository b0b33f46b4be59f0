import { useEffect, useState, type JSX } from 'react'
import { loadIdentityProviders, signInWithProvider, type IdentityProvider } from '#web/data/auth/identity-providers.ts'
import { Button } from '#web/ui/button.tsx'
import styles from './provider-buttons.module.css'
import { useSignInStep } from './use-sign-in-step.ts'

export function ProviderButtons(): JSX.Element | null {
  const [providers, setProviders] = useState<readonly IdentityProvider[]>([])
  const { busy, error, run } = useSignInStep()
  useEffect(() => {
    loadIdentityProviders().then(setProviders, (failure: unknown) => console.error(failure))
  }, [])
  if (providers.length === 0) return null
  return (
    <div className={styles.providers}>
      <p className={styles.or}>or</p>
      {providers.map((provider) => (
        <Button
          key={provider.name}
          variant="outline"
          size="lg"
          disabled={busy}
          onClick={() => void run(() => signInWithProvider(provider))}
        >
          {`Continue with ${provider.label}`}
        </Button>
      ))}
      {error !== null && <p role="alert">{error}</p>}
    </div>
  )
}
