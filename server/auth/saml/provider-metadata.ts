import { parseStringPromise, processors } from 'xml2js'
import { z } from 'zod'

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect'

const certificate = z.object({ _: z.string() }).transform(({ _: text }) => text)
const keyInfo = z.object({ X509Data: z.array(z.object({ X509Certificate: z.array(certificate).default([]) })) })
const role = z.object({
  KeyDescriptor: z
    .array(z.object({ $: z.object({ use: z.string().optional() }).default({}), KeyInfo: z.array(keyInfo) }))
    .default([]),
  SingleSignOnService: z.array(z.object({ $: z.object({ Binding: z.string(), Location: z.string() }) })),
})
const description = z.object({
  EntityDescriptor: z.object({ $: z.object({ entityID: z.string().min(1) }), IDPSSODescriptor: z.array(role) }),
})

/** Reads SAML 2.0 metadata with one EntityDescriptor. @throws Error if something that a sign-in needs is missing. */
export async function readProviderMetadata(
  xml: string,
): Promise<{ issuer: string; entryPoint: string; certificates: string[] }> {
  const parsed: unknown = await parseStringPromise(xml, {
    tagNameProcessors: [processors.stripPrefix],
    explicitCharkey: true,
  })
  const read = description.safeParse(parsed)
  if (!read.success) throw new Error(`it is no metadata of one identity provider (${z.prettifyError(read.error)})`)
  const { $: entity, IDPSSODescriptor: roles } = read.data.EntityDescriptor
  const entryPoint = roles
    .flatMap((found) => found.SingleSignOnService)
    .find(({ $: { Binding: binding } }) => binding === REDIRECT)?.$.Location
  if (entryPoint === undefined) throw new Error('it names no place to sign in by redirect')
  const certificates = roles
    .flatMap((found) => found.KeyDescriptor)
    .filter(({ $: { use } }) => use !== 'encryption')
    .flatMap((key) => key.KeyInfo.flatMap(({ X509Data: data }) => data.flatMap((one) => one.X509Certificate)))
  return { issuer: entity.entityID, entryPoint, certificates }
}
