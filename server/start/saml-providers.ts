/** Reads the operator's file of SAML identity providers. */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { SamlProviderSettings } from '#server/auth/saml/provider.ts'
import { AppError, messageOf } from '#server/base/errors.ts'

const common = {
  id: z.uuid().toLowerCase(),
  label: z.string().min(1).max(60).optional(),
  domains: z.array(z.string().min(1).toLowerCase()).default([]),
  attributes: z.record(z.string().min(1), z.string().min(1)).default({}),
}
const providersFile = z.array(
  z.union([
    z.strictObject({ ...common, metadata: z.string().min(1) }),
    z.strictObject({
      ...common,
      entryPoint: z.string(),
      issuer: z.string(),
      certificates: z.array(z.string()),
    }),
  ]),
)
type Listed = z.output<typeof providersFile>[number]

/** Requests must be encrypted, except on this machine. */
const entryPoint = z
  .url()
  .refine((value) => value.startsWith('https:') || /^http:\/\/(127\.0\.0\.1|localhost|\[::1\])[:/]/.test(`${value}/`))

/** @throws AppError `startup` that names the file and the problem */
export async function readSamlProviders(file: string | undefined): Promise<SamlProviderSettings[]> {
  if (file === undefined) return []
  try {
    const listed = providersFile.safeParse(JSON.parse(await readFile(file, 'utf8')))
    if (!listed.success) throw new Error(z.prettifyError(listed.error).replaceAll('\n', ' '))
    const providers = await Promise.all(listed.data.map((provider) => readProvider(provider, path.dirname(file))))
    requireDistinct(providers.map(({ id }) => id))
    requireDistinct(providers.flatMap(({ domains }) => domains))
    return providers
  } catch (error) {
    throw new AppError('startup', `AUTH_SAML_PROVIDERS names ${file}, which cannot be used: ${messageOf(error)}.`, {
      cause: error,
    })
  }
}

async function readProvider(listed: Listed, folder: string): Promise<SamlProviderSettings> {
  const { id, label, domains, attributes } = listed
  const found = 'metadata' in listed ? await readMetadataFile(path.resolve(folder, listed.metadata)) : listed
  if (!entryPoint.safeParse(found.entryPoint).success) {
    throw new Error(`the entry point of ${id} is no https:// address`)
  }
  if (found.issuer === '') throw new Error(`${id} has no issuer`)
  if (found.certificates.length === 0) throw new Error(`${id} has no certificate`)
  const certificates = found.certificates.map((given) => readCertificate(given, id))
  return { id, label, domains, attributes, entryPoint: found.entryPoint, issuer: found.issuer, certificates }
}

async function readMetadataFile(file: string) {
  const { readProviderMetadata } = await import('#server/auth/saml/provider-metadata.ts')
  try {
    return await readProviderMetadata(await readFile(file, 'utf8'))
  } catch (error) {
    throw new Error(`${file}: ${messageOf(error)}`, { cause: error })
  }
}

/** Converts PEM or the base64 text of metadata to PEM. */
function readCertificate(given: string, id: string): string {
  const base64 = given.replace(/-----(BEGIN|END) CERTIFICATE-----/g, '').replace(/\s/g, '')
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).toString()
  } catch (error) {
    throw new Error(`a certificate of ${id} cannot be read`, { cause: error })
  }
}

function requireDistinct(names: readonly string[]): void {
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`${twice} is listed twice`)
}
