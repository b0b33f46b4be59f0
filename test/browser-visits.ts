/** Emulates a browser between two sites: keeps cookies by site and follows redirects. */
export function createVisits() {
  const jars = new Map<string, Map<string, string>>()

  async function visit(address: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(address)
    const jar = jars.get(host) ?? new Map<string, string>()
    jars.set(host, jar)
    const headers = new Headers(init.headers)
    if (jar.size > 0) headers.set('cookie', Array.from(jar, (cookie) => cookie.join('=')).join('; '))
    const response = await fetch(address, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]?.split('=') ?? []
      jar.set(name, value)
    }
    return response
  }

  return {
    fetch: visit as typeof fetch,
    /** Follows redirects up to the first address that matches, which is returned unvisited. */
    async follow(address: string, isEnd: (url: URL) => boolean): Promise<URL> {
      let at = new URL(address)
      for (let hops = 0; hops < 10 && !isEnd(at); hops += 1) {
        const response = await visit(at.href)
        const location = response.headers.get('location')
        if (location === null) throw new Error(`${at.pathname} answered ${response.status}: ${await response.text()}`)
        at = new URL(location, at)
      }
      return at
    },
  }
}
