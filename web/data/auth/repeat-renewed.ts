/** Sends a request of the auth client once more where the person's token has expired by the server's clock. */
export async function repeatRenewed(
  renew: (rejected: string) => Promise<string | null>,
  response: Response,
  input: RequestInfo | URL,
  init: RequestInit,
): Promise<Response> {
  if (!(await isRejectedToken(response.clone()))) return response
  const headers = new Headers(init.headers)
  const token = await renew((headers.get('authorization') ?? '').replace('Bearer ', ''))
  if (token === null) return response
  headers.set('authorization', `Bearer ${token}`)
  return fetch(input, { ...init, headers })
}

async function isRejectedToken(response: Response): Promise<boolean> {
  const answer: unknown = await response.json().catch(() => null)
  return JSON.stringify(answer).includes('"bad_jwt"')
}
