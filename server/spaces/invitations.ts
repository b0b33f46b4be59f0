/** Invitations to spaces. Functions run as the person; the database decides who may invite and accept. */
import type { SpaceRole } from '#contract/space.ts'
import type { Scope } from '#server/database/scope.ts'

export interface Invitation {
  readonly space: string
  readonly inviter: string
}

/** Undefined if a member has the address already. @throws AppError `not_found`, `forbidden`, `conflict` */
export async function inviteToSpace(
  scope: Scope,
  spaceId: string,
  { email, role }: { readonly email: string; readonly role: SpaceRole },
): Promise<Invitation | undefined> {
  const { rows } = await scope.query<{ id: string | null }>('select invite_to_space($1, $2, $3) as id', [
    spaceId,
    email,
    role,
  ])
  if (rows[0]?.id == null) return undefined
  const named = await scope.query<Invitation & Record<string, unknown>>(
    `select s.name as space, p.name as inviter
     from spaces s join space_people(s.id) p on p.user_id = (select auth.uid()) where s.id = $1`,
    [spaceId],
  )
  return named.rows[0]
}

/** @returns the id of the space @throws AppError `not_found` */
export async function answerInvitation(scope: Scope, id: string, isAccepted: boolean): Promise<string> {
  const { rows } = await scope.query<{ space: string }>('select answer_invitation($1, $2) as space', [id, isAccepted])
  return rows[0]?.space ?? ''
}
