/**
 * A SAML 2.0 identity provider on loopback. The current `person` is signed in without a prompt, by a validly signed
 * assertion. Its XML is written in canonical form, so that the digest covers the text as it is.
 */
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { inflateRawSync } from 'node:zlib'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import type { SamlProviderSettings } from '#server/auth/saml/provider.ts'
import { certify } from './self-signed-certificate.ts'

const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion'
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#'
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#'
const METHODS = {
  sha256: {
    signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    digest: 'http://www.w3.org/2001/04/xmlenc#sha256',
  },
  sha1: { signature: `${SIGNATURE}rsa-sha1`, digest: `${SIGNATURE}sha1` },
}

export interface SamlPerson {
  readonly subject: string
  readonly email?: string
  readonly name?: string
}

/** Deviations from a valid response. */
export interface SamlForgery {
  readonly audience?: string
  readonly recipient?: string
  readonly inResponseTo?: string
  readonly issuer?: string
  readonly notOnOrAfter?: string
  readonly key?: KeyObject
  readonly method?: keyof typeof METHODS
  readonly isUnsigned?: boolean
  readonly nameIdFormat?: string
  readonly sessionNotOnOrAfter?: string
  /** Alters the response in transit. */
  readonly alter?: (xml: string) => string
}

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** Enveloped signature over an element in canonical form. */
function signatureOf(xml: string, id: string, key: KeyObject, name: keyof typeof METHODS): string {
  const method = METHODS[name]
  const empty = (element: string, algorithm: string) => `<ds:${element} Algorithm="${algorithm}"></ds:${element}>`
  const signedInfo =
    `<ds:SignedInfo xmlns:ds="${SIGNATURE}">${empty('CanonicalizationMethod', EXCLUSIVE)}` +
    `${empty('SignatureMethod', method.signature)}<ds:Reference URI="#${id}"><ds:Transforms>` +
    `${empty('Transform', `${SIGNATURE}enveloped-signature`)}${empty('Transform', EXCLUSIVE)}</ds:Transforms>` +
    `${empty('DigestMethod', method.digest)}<ds:DigestValue>${createHash(name).update(xml).digest('base64')}</ds:DigestValue>` +
    '</ds:Reference></ds:SignedInfo>'
  const value = createSign(name).update(signedInfo).sign(key, 'base64')
  return `<ds:Signature xmlns:ds="${SIGNATURE}">${signedInfo}<ds:SignatureValue>${value}</ds:SignatureValue></ds:Signature>`
}

export type SamlIdentityProvider = Awaited<ReturnType<typeof startSamlProvider>>

export async function startSamlProvider() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const certificate = certify(publicKey, privateKey)
  const state = { person: { subject: 'nobody' } as SamlPerson }
  let origin = ''

  /** Returns the form that the browser posts to the consumer. */
  function answer(request: URL, forgery: SamlForgery = {}) {
    const asked = inflateRawSync(Buffer.from(request.searchParams.get('SAMLRequest') ?? '', 'base64')).toString()
    const read = (pattern: RegExp) => pattern.exec(asked)?.[1] ?? ''
    const consumer = read(/AssertionConsumerServiceURL="([^"]+)"/)
    const requestId = read(/ ID="([^"]+)"/)
    const issuer = escape(forgery.issuer ?? `${origin}/metadata`)
    const inResponseTo = forgery.inResponseTo ?? requestId
    const notOnOrAfter = forgery.notOnOrAfter ?? new Date(Date.now() + 300_000).toISOString()
    const now = new Date().toISOString()
    const { subject, email, name } = state.person
    const attribute = (named: string, value: string | undefined) =>
      value === undefined
        ? ''
        : `<saml:Attribute Name="${named}"><saml:AttributeValue>${escape(value)}</saml:AttributeValue></saml:Attribute>`
    const id = `_${randomUUID()}`
    const session = forgery.sessionNotOnOrAfter
    const head =
      `<saml:Assertion xmlns:saml="${ASSERTION}" ID="${id}" IssueInstant="${now}" Version="2.0">` +
      `<saml:Issuer>${issuer}</saml:Issuer>`
    const rest =
      `<saml:Subject><saml:NameID Format="${forgery.nameIdFormat ?? 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent'}">${escape(subject)}</saml:NameID>` +
      '<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer">' +
      `<saml:SubjectConfirmationData InResponseTo="${inResponseTo}" NotOnOrAfter="${notOnOrAfter}" Recipient="${forgery.recipient ?? consumer}"></saml:SubjectConfirmationData>` +
      '</saml:SubjectConfirmation></saml:Subject>' +
      `<saml:Conditions NotBefore="${new Date(Date.now() - 600_000).toISOString()}" NotOnOrAfter="${notOnOrAfter}"><saml:AudienceRestriction>` +
      `<saml:Audience>${escape(forgery.audience ?? read(/<saml:Issuer[^>]*>([^<]+)</))}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
      `<saml:AuthnStatement AuthnInstant="${now}"${session === undefined ? '' : ` SessionNotOnOrAfter="${session}"`}></saml:AuthnStatement>` +
      `<saml:AttributeStatement>${attribute('mail', email)}${attribute('displayName', name)}</saml:AttributeStatement></saml:Assertion>`
    const signature = forgery.isUnsigned
      ? ''
      : signatureOf(head + rest, id, forgery.key ?? privateKey, forgery.method ?? 'sha256')
    const xml =
      `<samlp:Response xmlns:samlp="${PROTOCOL}" ID="_${randomUUID()}" InResponseTo="${inResponseTo}" IssueInstant="${now}" Version="2.0">` +
      `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"></samlp:StatusCode></samlp:Status>` +
      `${head}${signature}${rest}</samlp:Response>`
    return {
      consumer,
      form: {
        SAMLResponse: Buffer.from((forgery.alter ?? String)(xml)).toString('base64'),
        RelayState: request.searchParams.get('RelayState') ?? '',
      },
    }
  }

  const app = new Hono()
  app.get('/sso', (context) => {
    const { consumer, form } = answer(new URL(context.req.url))
    const inputs = Object.entries(form).map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`)
    return context.html(
      `<form method="post" action="${consumer}">${inputs.join('')}</form><script>document.forms[0].submit()</script>`,
    )
  })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await new Promise((resolve) => server.once('listening', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const provider: SamlProviderSettings = {
    id: '6a4a2b1c-90f3-4b0e-8d77-3f0c5f6f7a10',
    label: 'Acme',
    domains: ['acme.test'],
    entryPoint: `${origin}/sso`,
    issuer: `${origin}/metadata`,
    certificates: [certificate],
    attributes: { name: 'displayName' },
  }
  return {
    origin,
    state,
    provider,
    answer,
    async close() {
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
