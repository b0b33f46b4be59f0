/** SAML 2.0 identity providers: creates requests and reads responses. */
import type { SamlConfig } from '@node-saml/node-saml'
import { z } from 'zod'
import { AuthError } from '#server/auth/errors.ts'
import { validateResponse } from './validate-response.ts'

export interface SamlProviderSettings {
  /** Clients know it as `provider_id`; its accounts have the provider `sso:<id>`. */
  readonly id: string
  /** Undefined: the sign-in page shows no button. */
  readonly label: string | undefined
  /** Lower case. */
  readonly domains: readonly string[]
  /** For requests (HTTP-Redirect binding). */
  readonly entryPoint: string
  /** Entity id. */
  readonly issuer: string
  /** PEM; two during a key rotation. */
  readonly certificates: readonly string[]
  /** Attribute names of the provider by account field, for example `email` and `name`. */
  readonly attributes: Readonly<Record<string, string>>
}

/** Our entity id is the address of our metadata. */
export const addressesOf = (siteUrl: string) => ({
  metadata: `${siteUrl}/auth/v1/sso/saml/metadata`,
  consumer: `${siteUrl}/auth/v1/sso/saml/acs`,
})

export interface SamlResult {
  readonly subject: string
  readonly email: string
  readonly details: Readonly<Record<string, string>>
  readonly assertionId: string
  readonly endsAt: Date
  /** `SessionNotOnOrAfter` of the provider. */
  readonly sessionNotAfter: Date | undefined
}

const CLOCK_SKEW_MS = 60_000
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer'
const TRANSIENT = 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'
const SUBJECT_ID = 'urn:oasis:names:tc:SAML:attribute:subject-id'
const PAIRWISE_ID = 'urn:oasis:names:tc:SAML:attribute:pairwise-id'
/** Used unless the operator maps an attribute. */
const EMAIL_ATTRIBUTES = [
  'urn:oid:0.9.2342.19200300.100.1.3',
  'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress',
  'mail',
  'email',
]
const EMAIL_NAME_ID = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'

/** Imported at the first use, because most servers need no XML. */
async function samlFor(
  { entryPoint, issuer, certificates }: SamlProviderSettings,
  { siteUrl, requestId }: { siteUrl: string; requestId: string },
) {
  const { SAML, ValidateInResponseTo } = await import('@node-saml/node-saml')
  const { metadata, consumer } = addressesOf(siteUrl)
  const config: SamlConfig = {
    entryPoint,
    idpIssuer: issuer,
    idpCert: [...certificates],
    issuer: metadata,
    audience: metadata,
    callbackUrl: consumer,
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    // One signature suffices: the library reads only the signed bytes and rejects a response without any.
    wantAssertionsSigned: false,
    wantAuthnResponseSigned: false,
    acceptedClockSkewMs: CLOCK_SKEW_MS,
    generateUniqueId: () => requestId,
    validateInResponseTo: ValidateInResponseTo.always,
    // The only known request is the one of the state, which was consumed before.
    cacheProvider: {
      saveAsync: (_id, value) => Promise.resolve({ value, createdAt: Date.now() }),
      getAsync: (id) => Promise.resolve(id === requestId ? new Date().toISOString() : null),
      removeAsync: (id) => Promise.resolve(id),
    },
  }
  return new SAML(config)
}

export async function createRequestUrl(
  provider: SamlProviderSettings,
  { siteUrl, requestId, relayState }: { siteUrl: string; requestId: string; relayState: string },
): Promise<URL> {
  const saml = await samlFor(provider, { siteUrl, requestId })
  return new URL(await saml.getAuthorizeUrlAsync(relayState, undefined, {}))
}

const confirmation = z.object({
  $: z.object({ Method: z.literal(BEARER) }),
  SubjectConfirmationData: z.tuple([
    z.object({ $: z.object({ InResponseTo: z.string(), Recipient: z.string(), NotOnOrAfter: z.iso.datetime() }) }),
  ]),
})

/** Required inside the signed assertion, because its surroundings are not signed. */
const signedAssertion = z.object({
  Assertion: z.object({
    $: z.object({ ID: z.string().min(1) }),
    Subject: z.tuple([z.object({ SubjectConfirmation: z.array(z.unknown()) })]),
    Conditions: z.tuple([z.object({ $: z.object({ NotOnOrAfter: z.iso.datetime() }) })]),
    AuthnStatement: z
      .array(z.object({ $: z.object({ SessionNotOnOrAfter: z.iso.datetime().optional() }).optional() }))
      .optional(),
  }),
})

const profileSchema = z.object({
  issuer: z.string(),
  nameID: z.string().optional(),
  nameIDFormat: z.string().optional(),
  attributes: z.record(z.string(), z.unknown()).default({}),
})

/**
 * `response` is the base64 text of SAMLResponse. @throws AuthError `validation_failed` if it is not signed by the
 * provider, not for us, for another request or too old; `saml_assertion_no_user_id`, `saml_assertion_no_email`.
 */
export async function readResponse(
  provider: SamlProviderSettings,
  { siteUrl, requestId, response }: { siteUrl: string; requestId: string; response: string },
): Promise<SamlResult> {
  const { profile, assertion } = await requireAssertion(provider, { siteUrl, requestId, response })
  const described = profileSchema.parse(profile)
  const text = (name: string): string | undefined => firstText(described.attributes[name])
  const subject =
    text(SUBJECT_ID) ?? text(PAIRWISE_ID) ?? (described.nameIDFormat === TRANSIENT ? undefined : described.nameID)
  if (subject === undefined) {
    throw new AuthError('saml_assertion_no_user_id', 'SAML Assertion did not contain a persistent name of this user')
  }
  const { email: emailAttribute, ...others } = provider.attributes
  const email =
    (emailAttribute === undefined ? EMAIL_ATTRIBUTES : [emailAttribute]).map(text).find((found) => found) ??
    (described.nameIDFormat === EMAIL_NAME_ID ? described.nameID : undefined)
  if (email === undefined) {
    throw new AuthError('saml_assertion_no_email', 'SAML Assertion does not contain an email address')
  }
  const details = Object.entries(others).flatMap(([name, attribute]) => {
    const value = text(attribute)
    return value === undefined ? [] : [[name, value] as const]
  })
  const ends = assertion.AuthnStatement?.map((statement) => statement.$?.SessionNotOnOrAfter).find((end) => end)
  return {
    subject,
    email,
    details: Object.fromEntries(details),
    assertionId: assertion.$.ID,
    endsAt: new Date(Date.parse(assertion.Conditions[0].$.NotOnOrAfter) + CLOCK_SKEW_MS),
    sessionNotAfter: ends === undefined ? undefined : new Date(ends),
  }
}

async function requireAssertion(
  provider: SamlProviderSettings,
  { siteUrl, requestId, response }: { siteUrl: string; requestId: string; response: string },
) {
  try {
    await validateResponse(Buffer.from(response, 'base64').toString())
    const saml = await samlFor(provider, { siteUrl, requestId })
    const { profile } = await saml.validatePostResponseAsync({ SAMLResponse: response })
    if (profile === null) throw new Error('It says nothing about anybody.')
    if (profile.issuer !== provider.issuer) throw new Error('Another provider made it.')
    const { Assertion: assertion } = signedAssertion.parse(profile.getAssertion?.())
    const { consumer } = addressesOf(siteUrl)
    const isConfirmed = assertion.Subject[0].SubjectConfirmation.some((given) => {
      const read = confirmation.safeParse(given)
      if (!read.success) return false
      const { InResponseTo, Recipient, NotOnOrAfter } = read.data.SubjectConfirmationData[0].$
      const isInTime = Date.now() < Date.parse(NotOnOrAfter) + CLOCK_SKEW_MS
      return InResponseTo === requestId && Recipient === consumer && isInTime
    })
    if (!isConfirmed) throw new Error('It is not the answer to this request.')
    return { profile, assertion }
  } catch (cause) {
    throw new AuthError('validation_failed', 'SAML Assertion is not valid', { cause })
  }
}

/** An attribute has one or more values, each a text or an element. */
function firstText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && first.trim() !== '' ? first.trim() : undefined
}
