/** Tokens for one operation on one object. A separate derived key and no role keep them from passing as a session. */
import { hkdfSync } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { messageOf } from '#server/base/errors.ts'
import { StorageError } from './errors.ts'
import type { ObjectPath } from './names.ts'

const downloadClaimsSchema = z.object({
  url: z.string(),
  exp: z.int(),
  scope: z.literal('download'),
  signer: z.uuid().nullish(),
})
const uploadClaimsSchema = z.object({
  url: z.string(),
  exp: z.int(),
  scope: z.literal('upload'),
  upsert: z.boolean(),
  owner: z.uuid().optional(),
  signer: z.uuid().nullish(),
})

/**
 * The account that signed the link, with which the link ends. Null: none, as with the service key. Undefined in links of
 * earlier versions.
 */
export type Signer = string | null | undefined

export interface UploadGrant {
  readonly upsert: boolean
  /** The person who requested the token owns the object. */
  readonly owner?: string | undefined
  readonly signer?: Signer
}

export interface DownloadGrant {
  /** In seconds since 1970. */
  readonly expiresAt: number
  readonly signer: Signer
}

export interface SignedTokens {
  signDownload(target: ObjectPath, grant: { readonly signer: Signer; readonly expiresInS: number }): Promise<string>
  signUpload(target: ObjectPath, grant: UploadGrant, expiresInS: number): Promise<string>
  /** @throws StorageError `InvalidJWT`, `InvalidSignature` */
  verifyDownload(token: string, target: ObjectPath): Promise<DownloadGrant>
  /** @throws StorageError `InvalidJWT`, `InvalidSignature` */
  verifyUpload(token: string, target: ObjectPath): Promise<UploadGrant>
}

const objectUrl = ({ bucket, key }: ObjectPath) => `${bucket}/${key}`

export function createSignedTokens(signingKey: Buffer): SignedTokens {
  const key = new Uint8Array(hkdfSync('sha256', signingKey, 'alcove', 'storage object tokens', 32))

  const sign = (claims: Record<string, unknown>, expiresInS: number) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuedAt()
      .setExpirationTime(Math.floor(Date.now() / 1000) + expiresInS)
      .sign(key)

  async function verify<Claims extends { url: string }>(
    token: string,
    target: ObjectPath,
    shape: z.ZodType<Claims>,
  ): Promise<Claims> {
    const { payload } = await jwtVerify(token, key, { algorithms: ['HS256'] }).catch((error: unknown) => {
      throw new StorageError('InvalidJWT', messageOf(error), { cause: error })
    })
    const claims = shape.safeParse(payload)
    if (!claims.success) throw new StorageError('InvalidSignature', 'The token is not meant for this')
    if (claims.data.url !== objectUrl(target)) throw new StorageError('InvalidSignature')
    return claims.data
  }

  return {
    signDownload: (target, { signer, expiresInS }) =>
      sign({ url: objectUrl(target), scope: 'download', signer }, expiresInS),
    signUpload: (target, { upsert, owner, signer }, expiresInS) =>
      sign({ url: objectUrl(target), scope: 'upload', upsert, owner, signer }, expiresInS),
    async verifyDownload(token, target) {
      const { exp: expiresAt, signer } = await verify(token, target, downloadClaimsSchema)
      return { expiresAt, signer }
    },
    verifyUpload: (token, target) => verify(token, target, uploadClaimsSchema),
  }
}
