const METHODS = new Set([
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1',
  'http://www.w3.org/2001/04/xmlenc#sha256',
  'http://www.w3.org/2001/04/xmlenc#sha512',
])

/**
 * Rejects a document type, a second assertion (signature wrapping), encryption (we have no key) and SHA-1 signatures
 * before any signature is checked.
 */
export async function validateResponse(xml: string): Promise<void> {
  if (/<!(DOCTYPE|ENTITY)/i.test(xml)) throw new Error('It has a document type.')
  const { Parser, processors } = await import('xml2js')
  const parser = new Parser({ tagNameProcessors: [processors.stripPrefix], explicitCharkey: true })
  const answer: unknown = await parser.parseStringPromise(xml)
  const named = (name: string) => elementsNamed(answer, name)
  if (named('EncryptedAssertion').length > 0) throw new Error('It is encrypted, for which we have no key.')
  if (named('Assertion').length !== 1) throw new Error('It has not just one assertion.')
  for (const method of [...named('SignatureMethod'), ...named('DigestMethod')]) {
    const algorithms = elementsNamed(method, 'Algorithm')
    if (!algorithms.every((algorithm) => typeof algorithm === 'string' && METHODS.has(algorithm))) {
      throw new Error(`It is signed by a method that does not count: ${algorithms.join()}.`)
    }
  }
}

/** Finds elements and attributes at any depth. */
function elementsNamed(node: unknown, name: string): unknown[] {
  if (Array.isArray(node)) return node.flatMap((child) => elementsNamed(child, name))
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]: [string, unknown]) => [
    ...(key !== name ? [] : Array.isArray(value) ? (value as unknown[]) : [value]),
    ...elementsNamed(value, name),
  ])
}
