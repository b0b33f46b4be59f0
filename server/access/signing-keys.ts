import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import { z } from 'zod'
import { AppError } from '#server/base/errors.ts'

export const signingKey = z.looseObject({
  kty: z.literal('EC'),
  crv: z.string(),
  x: z.string(),
  y: z.string(),
  d: z.string(),
  kid: z.string(),
})
export type SigningKey = z.infer<typeof signingKey>

/** `add` a key that only verifies, `use` it to sign (again `use` undoes that), `retire` the key that does not sign. */
export const keyStep = z.enum(['add', 'use', 'retire'])
export type KeyStep = z.infer<typeof keyStep>

export async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const jwk = await exportJWK(privateKey)
  return signingKey.parse({ ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' })
}

/** Restart every server before the next step, so that every server knows the signing key. @throws AppError `conflict` */
export async function stepSigningKeys(keys: readonly SigningKey[], step: KeyStep): Promise<readonly SigningKey[]> {
  const [signing, other] = keys
  if (step === 'add') {
    if (other) throw new AppError('conflict', 'There are two signing keys already: retire the one that does not sign.')
    return [...keys, await generateSigningKey()]
  }
  if (!signing || !other) throw new AppError('conflict', 'There is one signing key alone: add another one first.')
  return step === 'use' ? [other, signing] : [signing]
}
