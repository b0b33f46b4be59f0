import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SamlIdentityProvider, startSamlProvider } from '#test/saml-provider.ts'
import { readSamlProviders } from './saml-providers.ts'

let folder: string
let idp: SamlIdentityProvider
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'alcove-saml-'))
  idp = await startSamlProvider()
})
afterAll(async () => {
  await idp.close()
  await rm(folder, { recursive: true })
})

async function readListed(listed: unknown) {
  const file = path.join(folder, 'saml.json')
  await writeFile(file, typeof listed === 'string' ? listed : JSON.stringify(listed))
  return readSamlProviders(file)
}

test('a provider is read from its metadata or from the file itself', async () => {
  const { provider } = idp
  const base64 = (provider.certificates[0] ?? '').replace(/-----.*-----|\n/g, '')
  const key = (use: string, text: string) =>
    `<md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>
      ${text}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`
  await writeFile(
    path.join(folder, 'acme.xml'),
    `<?xml version="1.0"?><md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${provider.issuer}">
      <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      ${key('signing', base64)}${key('encryption', 'not read')}
      <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://other.test/"/>
      <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${provider.entryPoint}"/>
      </md:IDPSSODescriptor></md:EntityDescriptor>`,
  )
  const { id, label, domains, attributes } = provider
  const [fromMetadata] = await readListed([{ id, label, domains, attributes, metadata: 'acme.xml' }])
  const [fromFile] = await readListed([provider])
  expect(fromMetadata).toMatchObject({ id, label, domains, issuer: provider.issuer, entryPoint: provider.entryPoint })
  expect(fromFile).toEqual(fromMetadata)
})

test('an invalid file stops the start with an explanation', async () => {
  const { provider } = idp
  const broken = path.join(folder, 'broken.json')
  await writeFile(broken, '[{')
  await expect(readSamlProviders(broken)).rejects.toThrow(/broken\.json, which cannot be used: .*JSON.*[^.]\.$/)
  await expect(readSamlProviders(broken)).rejects.not.toThrow('body')
  await expect(readListed('not at all')).rejects.toThrow('which cannot be used')
  await expect(readListed([{ ...provider, id: 'acme' }])).rejects.toThrow('Invalid')
  await expect(readListed([{ ...provider, certificates: ['abc'] }])).rejects.toThrow('cannot be read')
  await expect(readListed([{ ...provider, certificates: [] }])).rejects.toThrow('has no certificate')
  await expect(readListed([{ ...provider, entryPoint: 'http://idp.test/' }])).rejects.toThrow('no https:// address')
  await expect(readListed([provider, provider])).rejects.toThrow('is listed twice')
  await expect(readListed([{ id: provider.id, metadata: 'absent.xml' }])).rejects.toThrow('absent.xml')
})
