import { useQuery } from '@tanstack/react-query'
import type { JSX } from 'react'
import { unlinkIdentity, type UserIdentity } from '#web/data/account/account.ts'
import { linkIdentity, loadIdentityProviders } from '#web/data/auth/identity-providers.ts'
import type { User } from '#web/data/auth/session.ts'
import { Button } from '#web/ui/button.tsx'
import styles from '#web/ui/rows.module.css'
import { ErrorText, Section } from '#web/ui/section.tsx'
import { useAttempt } from '#web/data/use-attempt.ts'

const NAMES: Record<string, string> = { email: 'E-mail', google: 'Google', github: 'GitHub' }

const emailOf = ({ identity_data: data }: UserIdentity): string => {
  const email: unknown = data?.['email']
  return typeof email === 'string' ? email : ''
}

function IdentityRow({ identity, isOnly }: { identity: UserIdentity; isOnly: boolean }): JSX.Element {
  const { busy, errorMessage, run } = useAttempt()
  const name = identity.provider.startsWith('sso:') ? 'Single sign-on' : (NAMES[identity.provider] ?? identity.provider)
  return (
    <li>
      <div className={styles.row}>
        <div className={styles.words}>
          <p className={styles.value}>{name}</p>
          <p className={styles.caption}>{emailOf(identity)}</p>
        </div>
        {!isOnly && (
          <Button
            variant="ghost"
            size="sm"
            aria-label={`Unlink ${name}`}
            disabled={busy}
            onClick={() => void run(() => unlinkIdentity(identity))}
          >
            Unlink
          </Button>
        )}
      </div>
      <ErrorText>{errorMessage}</ErrorText>
    </li>
  )
}

function AddProviders({ linked }: { linked: ReadonlySet<string> }): JSX.Element | null {
  const { data: providers = [] } = useQuery({ queryKey: ['/auth/v1/settings'], queryFn: loadIdentityProviders })
  const { busy, errorMessage, run } = useAttempt()
  const others = providers.filter(({ name, ssoId }) => ssoId === undefined && !linked.has(name))
  if (others.length === 0) return null
  return (
    <div className={styles.actions}>
      {others.map((provider) => (
        <Button
          key={provider.name}
          variant="outline"
          size="sm"
          disabled={busy}
          onClick={() => void run(() => linkIdentity(provider))}
        >
          {`Add ${provider.label}`}
        </Button>
      ))}
      <ErrorText>{errorMessage}</ErrorText>
    </div>
  )
}

/** The last way to sign in cannot be removed. */
export function IdentitiesSection({ user }: { user: User }): JSX.Element {
  const identities = user.identities ?? []
  return (
    <Section title="Ways to sign in">
      <ul className={styles.list} aria-label="Ways to sign in">
        {identities.map((identity) => (
          <IdentityRow key={identity.identity_id} identity={identity} isOnly={identities.length === 1} />
        ))}
      </ul>
      {!identities.some(({ provider }) => provider.startsWith('sso:')) && (
        <AddProviders linked={new Set(identities.map(({ provider }) => provider))} />
      )}
    </Section>
  )
}
