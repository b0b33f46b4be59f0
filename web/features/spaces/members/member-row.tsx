import type { SpacePerson } from '#contract/space.ts'
import { useQueryClient } from '@tanstack/react-query'
import { Check, Ellipsis } from 'lucide-react'
import { useState, type JSX } from 'react'
import { changeRole, transferOwnership, removeMember } from '#web/data/spaces/members.ts'
import { spaceRole } from '#contract/space.ts'
import { useAttempt } from '#web/data/use-attempt.ts'
import { ROLE_WORDS } from '#web/features/spaces/role-words.ts'
import { Button } from '#web/ui/button.tsx'
import { classNames } from '#web/ui/class-names.ts'
import { ConfirmDialog } from '#web/ui/dialog.tsx'
import { Menu, MenuChoice, MenuChoiceItem, MenuChosen, MenuDialogItem, MenuSeparator } from '#web/ui/menu.tsx'
import rows from '#web/ui/rows.module.css'
import { ErrorText } from '#web/ui/section.tsx'
import hidden from '#web/ui/visually-hidden.module.css'
import styles from './members.module.css'

type MemberRowProps = {
  space: string
  person: SpacePerson
  isSelf: boolean
  isHere: boolean
  mayChange: boolean
  ownId: string
}

export function MemberRow({ space, person, isSelf, isHere, mayChange, ownId }: MemberRowProps): JSX.Element {
  const queryClient = useQueryClient()
  const { busy, errorMessage, run } = useAttempt()
  const [asked, setAsked] = useState<'remove' | 'hand over' | null>(null)
  const { name, email, role, user_id: id } = person
  const choose = (chosen: string): void =>
    void run(() => changeRole(queryClient, { space, person: id, role: spaceRole.parse(chosen) }))
  return (
    <li className={styles.member}>
      <span className={classNames(styles.initial, isHere && styles.here)} aria-hidden>
        {(Array.from(name)[0] ?? '?').toUpperCase()}
      </span>
      <div className={rows.words}>
        <p className={styles.name} title={name === email ? name : `${name} · ${email ?? ''}`} dir="auto">
          {name}
          {isSelf && ' (you)'}
        </p>
        <p className={styles.role}>
          {ROLE_WORDS[role].label}
          {isHere && <span className={isSelf ? hidden.hidden : undefined}> · here now</span>}
        </p>
      </div>
      {mayChange && (
        <Menu
          label={`Role of ${name}`}
          trigger={
            <Button variant="ghost" size="icon" aria-label={`Change ${name}`} disabled={busy}>
              <Ellipsis size={16} />
            </Button>
          }
        >
          <MenuChoice value={role} onValueChange={choose}>
            {spaceRole.options.map((one) => (
              <MenuChoiceItem key={one} value={one}>
                {ROLE_WORDS[one].label}
                <MenuChosen>
                  <Check size={15} />
                </MenuChosen>
              </MenuChoiceItem>
            ))}
          </MenuChoice>
          {!isSelf && (
            <>
              <MenuSeparator />
              <MenuDialogItem onOpen={() => setAsked('hand over')}>Hand the space over</MenuDialogItem>
              <MenuDialogItem destructive onOpen={() => setAsked('remove')}>
                Remove from the space
              </MenuDialogItem>
            </>
          )}
        </Menu>
      )}
      <div className={styles.below}>
        <ErrorText>{errorMessage}</ErrorText>
      </div>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => {
          if (!open) setAsked(null)
        }}
        title={asked === 'remove' ? `Remove ${name}` : `Hand the space over to ${name}`}
        description={
          asked === 'remove'
            ? 'The page of this person closes the space at once, and answers being written for them stop. The documents that they added stay.'
            : 'This person becomes an owner, and you become an editor. Only an owner can change that again.'
        }
        confirmLabel={asked === 'remove' ? 'Remove' : 'Hand over'}
        onConfirm={() =>
          void run(() =>
            asked === 'remove'
              ? removeMember(queryClient, space, id)
              : transferOwnership(queryClient, { space, from: ownId, to: id }),
          )
        }
      />
    </li>
  )
}
