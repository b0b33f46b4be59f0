/** GitHub supports OAuth 2 without OpenID Connect, so its API provides the profile. */
import * as openid from 'openid-client'
import { z } from 'zod'
import { boundedFetch } from './bounded-fetch.ts'
import type { Provider, ProviderSettings } from './provider.ts'

type GitHubSettings = Extract<ProviderSettings, { kind: 'github' }>

const SCOPES = ['user:email']

const userSchema = z.object({
  id: z.int().positive(),
  login: z.string(),
  name: z.string().nullish(),
  avatar_url: z.string().nullish(),
})
const emailsSchema = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

/** `redirectUri` is read at each use. */
export function createGitHubProvider(settings: GitHubSettings, redirectUri: () => string): Provider {
  const { siteUrl, apiUrl, clientIds, clientSecret } = settings
  const config = new openid.Configuration(
    {
      issuer: siteUrl,
      authorization_endpoint: `${siteUrl}/login/oauth/authorize`,
      token_endpoint: `${siteUrl}/login/oauth/access_token`,
    },
    clientIds[0],
    clientSecret,
    openid.ClientSecretPost(clientSecret),
  )
  config[openid.customFetch] = boundedFetch
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to stand out; for a server on this machine
  if (siteUrl.startsWith('http:')) openid.allowInsecureRequests(config)

  async function ask<Schema extends z.ZodType>(at: string, token: string, schema: Schema): Promise<z.output<Schema>> {
    const headers = {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token}`,
      'user-agent': 'Alcove',
    }
    const response = await boundedFetch(`${apiUrl}${at}`, { headers })
    if (!response.ok) throw new Error(`GitHub answered ${at} with status ${response.status}.`)
    return schema.parse(await response.json())
  }

  return {
    name: settings.name,
    label: settings.label,

    async authorizationUrl({ state, verifier }, scopes) {
      return openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri(),
        scope: [...new Set([...SCOPES, ...scopes])].join(' '),
        state,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
    },

    async finish(callback, { state, verifier }) {
      // GitHub publishes no metadata to validate `iss` against.
      callback.searchParams.delete('iss')
      const tokens = await openid.authorizationCodeGrant(config, callback, {
        expectedState: state,
        pkceCodeVerifier: verifier,
      })
      const { access_token: accessToken, refresh_token: refreshToken } = tokens
      const user = await ask('/user', accessToken, userSchema)
      const emails = await ask('/user/emails', accessToken, emailsSchema)
      const email = emails.find(({ primary }) => primary)
      return {
        profile: {
          subject: String(user.id),
          email: email?.email,
          isEmailVerified: email?.verified === true,
          details: {
            iss: apiUrl,
            user_name: user.login,
            preferred_username: user.login,
            ...(user.name == null ? {} : { name: user.name, full_name: user.name }),
            ...(user.avatar_url == null ? {} : { avatar_url: user.avatar_url }),
          },
        },
        accessToken,
        refreshToken,
      }
    },
  }
}
