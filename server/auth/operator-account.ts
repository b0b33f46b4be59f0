/** The account that a one-time link of the operator opens, also where sign-ups are closed. */
import { confirmEmail, findAccountByEmail, refusalOf } from './accounts.ts'
import { AuthError } from './errors.ts'
import { hashPassword, isRightPassword, requireAcceptablePassword } from './passwords.ts'
import { createAccountForOperator } from './pending-accounts.ts'
import { requireEmail } from './request.ts'
import type { AuthService } from './service.ts'

interface Credentials {
  readonly email: string
  readonly password: string
}

/**
 * Finds the confirmed account of an address by its password, or makes one that needs no mail, since a new server may send none.
 * @returns its id @throws AuthError
 */
export async function openOperatorAccount(
  { database, settings }: AuthService,
  { email, password }: Credentials,
): Promise<string> {
  const address = requireEmail(email)
  const known = await database.asAuth((scope) => findAccountByEmail(scope, address))
  if (known !== undefined && known.confirmed_at !== null) {
    const isRight = await isRightPassword(known.encrypted_password, password)
    if (!isRight || refusalOf(known) !== undefined)
      throw new AuthError(
        'invalid_credentials',
        'There is an account with this address, but the password is not right.',
      )
    return known.id
  }
  requireAcceptablePassword(password, settings)
  const passwordHash = await hashPassword(password)
  return database.asAuth(async (scope) => {
    const id = await createAccountForOperator(scope, { email: address, passwordHash, data: {} })
    if (id === undefined) throw new AuthError('email_exists', 'This address has just been taken. Try again.')
    await confirmEmail(scope, id, { isAssumed: true })
    return id
  })
}
