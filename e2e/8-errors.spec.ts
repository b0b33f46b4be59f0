/**
 * The error catalogue (specification, section 8): each row is provoked for real. Afterwards the page works, and typed
 * text survives. 4.8-voice.spec.ts covers the log of a failed transcription.
 */
import type { Page, Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectToFolder } from '#test/fill-conversation.ts'
import { composerOf, openStage, showUnreadableList, type Stage, startChat } from './stage.ts'

let stage: Stage
let page: Page
let errors: string[] = []

beforeAll(async () => {
  stage = await openStage({ signedIn: false })
  page = stage.page
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
})
afterAll(() => stage.close())
beforeEach(() => {
  errors = []
})
afterEach(() => page.unrouteAll({ behavior: 'ignoreErrors' }))

const failed = (route: Route) => route.fulfill({ status: 500, contentType: 'application/json', body: '{"msg":""}' })
const fail = (pattern: string | RegExp, methods: readonly string[] = ['GET', 'POST', 'PATCH', 'DELETE']) =>
  page.route(pattern, (route) => (methods.includes(route.request().method()) ? failed(route) : route.fallback()))

/** Checks the only toast word for word, then closes it. */
async function expectToast(title: string, description: string, variant = 'destructive'): Promise<void> {
  const toast = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Close notification' }) })
  await toast.getByText(description, { exact: true }).waitFor()
  expect(await toast.count()).toBe(1)
  await toast.getByText(title, { exact: true }).waitFor()
  expect(await toast.getAttribute('data-variant')).toBe(variant)
  await toast.getByRole('button', { name: 'Close notification' }).click()
  await toast.waitFor({ state: 'detached' })
}
const noToast = async () => expect(await page.getByRole('button', { name: 'Close notification' }).count()).toBe(0)

const email = () => page.getByPlaceholder('Enter your email')
const password = () => page.getByPlaceholder('Enter your password')
async function fillLogin(): Promise<void> {
  await email().fill('somebody@example.test')
  await password().fill('a long enough password')
}
const submit = (name: string) => page.getByRole('button', { name, exact: true }).click()

describe('on the sign-in page', () => {
  test('a sign-in that fails is said with the words of the service, or with ours', async () => {
    await fillLogin()
    await submit('Sign in')
    await expectToast('Authentication Error', 'An error occurred during sign in')
    await page.getByRole('alert').getByText('Invalid login credentials', { exact: true }).waitFor()
    await fail('**/auth/v1/token**')
    await submit('Sign in')
    await page
      .getByRole('alert')
      .getByText('Authentication failed. Please check your credentials.', { exact: true })
      .waitFor()
    await expectToast('Authentication Error', 'An error occurred during sign in')
    expect(await email().inputValue()).toBe('somebody@example.test')
    expect(await password().inputValue()).toBe('a long enough password')
  })

  test('a sign-up that fails as well', async () => {
    await submit("Don't have an account? Sign up")
    await password().fill('short')
    await submit('Create account')
    await expectToast('Registration Error', 'An error occurred during registration')
    await page
      .getByRole('alert')
      .getByText(/Password should be/)
      .waitFor()
    await fail('**/auth/v1/signup**')
    await submit('Create account')
    await page.getByRole('alert').getByText('Registration failed. Please try again.', { exact: true }).waitFor()
    await expectToast('Registration Error', 'An error occurred during registration')
    expect(await email().inputValue()).toBe('somebody@example.test')
    await submit('Already have an account? Sign in')
  })

  test.each([
    ['The disk is full', 'The disk is full'],
    ['', 'There was an error processing your request.'],
  ])('an unexpected exception is said: "%s"', async (message, words) => {
    await page.getByText('Use test account').click()
    await page.evaluate((text) => {
      // A storage that refuses is no exception any more: the page goes on in memory, whose entries are in a map.
      const set = Reflect.get(Map.prototype, 'set')
      Map.prototype.set = function (key, value) {
        if (key === 'alcove-session') throw new Error(text)
        return set.call(this, key, value)
      }
    }, message)
    await submit('Sign in')
    await page.getByRole('alert').getByText(words, { exact: true }).waitFor()
    await page.reload()
    await email().waitFor()
  })
})

describe('at the gate', () => {
  const error = (words: string) => page.getByRole('main').getByText(words, { exact: true })

  test('a service that cannot be initialised is an authentication error with a way to sign in', async () => {
    await page.route('**/config.json', failed)
    await page.goto(stage.alcove.url)
    await page.getByRole('heading', { name: 'Authentication Error' }).waitFor()
    await error('Error initializing authentication service').waitFor()
    await page.getByRole('button', { name: 'Go to Login' }).click()
    await page.waitForURL('**/login')
    await page.unrouteAll()
    await page.getByText('Error initializing authentication service').waitFor()
    await page.reload()
    await page.getByText('Use test account').click()
    await submit('Sign in')
    await page.getByText('Chat History').waitFor()
  })

  test('a session that cannot be read is one too, and is there again with the service', async () => {
    const expire = () =>
      page.evaluate(() => {
        const session = JSON.parse(localStorage.getItem('alcove-session') ?? '{}') as object
        localStorage.setItem('alcove-session', JSON.stringify({ ...session, expires_at: 1 }))
      })
    await page.goto(`${stage.alcove.url}/elsewhere`)
    await page.getByRole('heading', { name: '404 Page Not Found' }).waitFor()
    const storedSession = await page.evaluate(() => localStorage.getItem('alcove-session') ?? '')
    // For the whole context: the first page would refresh the session for the second.
    await page.context().route('**/auth/v1/token**', (route) => route.abort())
    await expire()
    const second = await page.context().newPage()
    await second.clock.install()
    await second.goto(stage.alcove.url)
    await second.getByText('Loading your experience...', { exact: true }).waitFor()
    const heading = second.getByRole('heading', { name: 'Authentication Error' })
    // Refresh attempts back off from 200 ms.
    await expect
      .poll(async () => {
        await second.clock.runFor(2_000)
        return heading.count()
      })
      .toBe(1)
    await second.getByText('Failed to connect to authentication service', { exact: true }).waitFor()
    await second.getByRole('button', { name: 'Go to Login' }).waitFor()
    await second.close()
    await page.context().unrouteAll()
    await page.evaluate((session) => localStorage.setItem('alcove-session', session), storedSession)
    await page.goto(stage.alcove.url)
    await page.getByText('Chat History').waitFor()
  })

  test('an unknown address is a page of its own', async () => {
    await page.goto(`${stage.alcove.url}/nowhere/at/all`)
    await page.getByRole('heading', { name: '404 Page Not Found' }).waitFor()
    await page.getByText('Did you forget to add the page to the router?', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Back to your conversations' }).click()
    await page.getByText('Chat History').waitFor()
  })
})

describe('in the chat', () => {
  const send = async (text: string): Promise<void> => {
    await composerOf(page).fill(text)
    await composerOf(page).press('Control+Enter')
  }
  const stands = (text: string) => expect.poll(() => composerOf(page).inputValue()).toBe(text)

  test('models that cannot be read', async () => {
    await fail('**/rest/v1/models**')
    await page.reload()
    await expectToast('Error loading models', 'Could not load models from the database. Using default models instead.')
    await page.getByRole('button', { name: /Alcove Reader.*DEFAULT/ }).waitFor()
    const client = await connectToFolder(stage.dataDir)
    errors = []
    await client.query('update models set is_visible = is_visible')
    await client.end()
    // The browser's line about the answer, and the page's.
    await expect.poll(() => errors.length).toBeGreaterThan(1)
    await noToast()
  })

  test('a list of conversations that cannot be read', async () => {
    await showUnreadableList(page, failed)
    const alert = page.getByRole('alert').filter({ hasText: 'Failed to load conversations' })
    await alert.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No conversations yet').waitFor()
  })

  test('a conversation that cannot be created; its question stands in the box again', async () => {
    await page.getByRole('button', { name: 'New chat' }).first().click()
    await fail('**/conversations**', ['POST'])
    await send('Will this be stored?')
    await expectToast('Error', 'Failed to create conversation. Please try again.')
    await stands('Will this be stored?')
    await page.getByText('No conversations yet').waitFor()
  })

  test('a first message that cannot be stored; trying again makes no second conversation', async () => {
    await fail('**/messages**', ['POST'])
    await composerOf(page).press('Control+Enter')
    await expectToast('Error', 'Failed to send message. Please try again.')
    await stands('Will this be stored?')
    await page.unrouteAll()
    await composerOf(page).press('Control+Enter')
    await page.getByRole('button', { name: 'Good answer' }).waitFor()
    const entries = page.getByRole('region', { name: 'Conversations', exact: true }).getByRole('listitem')
    expect(await entries.count()).toBe(1)
  })

  test('a later message that cannot be sent, with the error of the answer and no second try', async () => {
    const asked: string[] = []
    await page.route('**/messages**', (route) => {
      if (route.request().method() !== 'POST') return route.fallback()
      asked.push(new URL(route.request().url()).pathname.split('/')[1] ?? '')
      return route.fulfill({ status: 507, body: 'the disk is full' })
    })
    await send('And then?')
    await expectToast('Error', 'Failed to process your message. Please try again.')
    await stands('And then?')
    expect(await page.getByRole('article').filter({ hasText: 'And then?' }).count()).toBe(0)
    expect(asked).toEqual(['rest', 'api'])
    expect(errors.join('\n')).toContain('507: the disk is full')
  })

  test('a failed answer without a body is said with its status', async () => {
    await page.route('**/messages**', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 503, body: '' }) : route.fallback(),
    )
    await composerOf(page).press('Control+Enter')
    await expectToast('Error', 'Failed to process your message. Please try again.')
    expect(errors.join('\n')).toContain('503: Service Unavailable')
    await stands('And then?')
  })

  test('the network that is gone', async () => {
    await page.context().setOffline(true)
    await composerOf(page).press('Control+Enter')
    await expectToast('Error', 'Failed to process your message. Please try again.')
    await stands('And then?')
    await page.context().setOffline(false)
    await composerOf(page).press('Control+Enter')
    await page.getByRole('article').filter({ hasText: 'And then?' }).waitFor()
    await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(2)
  })

  test('a message of somebody who is not logged in any more', async () => {
    // Background requests of the page that are rejected meanwhile would sign it out.
    const { promise, resolve } = Promise.withResolvers<undefined>()
    await page.route(/\/(auth|rest|api)\//, async (route) => {
      await promise
      await route.continue()
    })
    const storedSession = await page.evaluate(() => {
      const session = localStorage.getItem('alcove-session') ?? ''
      localStorage.removeItem('alcove-session')
      return session
    })
    await send('Who am I?')
    await expectToast('Error', 'You must be logged in to send messages.')
    await stands('Who am I?')
    await page.evaluate((session) => localStorage.setItem('alcove-session', session), storedSession)
    resolve(undefined)
    await page.unrouteAll({ behavior: 'wait' })
    await composerOf(page).press('Control+Enter')
    await expect.poll(() => page.getByRole('button', { name: 'Good answer' }).count()).toBe(3)
  })

  test('a history that cannot be read is asked for again', async () => {
    await fail('**/messages**', ['GET'])
    await page.reload()
    const alert = page.getByRole('alert').filter({ hasText: 'Failed to load chat history. Please try again.' })
    await alert.waitFor()
    await page.unrouteAll()
    await alert.getByRole('button', { name: 'Retry' }).click()
    await page.getByRole('article').filter({ hasText: 'Who am I?' }).waitFor()
  })

  test('pinning, unpinning and deleting that fail; nothing moves', async () => {
    const entry = page
      .getByRole('region', { name: /Conversations/ })
      .getByRole('listitem')
      .first()
    const press = async (name: RegExp): Promise<void> => {
      await entry.hover()
      await entry.getByRole('button', { name }).click()
    }
    await fail('**/conversations**', ['PATCH', 'DELETE'])
    await press(/^Pin /)
    await expectToast('Error', 'Failed to pin conversation. Please try again.')
    await page.unrouteAll()
    await press(/^Pin /)
    await expectToast('Conversation pinned', 'The conversation has been pinned to the top', 'default')
    await fail('**/conversations**', ['PATCH', 'DELETE'])
    await press(/^Unpin /)
    await expectToast('Error', 'Failed to unpin conversation. Please try again.')
    await press(/^Delete /)
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await expectToast('Error', 'Failed to delete conversation. Please try again.')
    await page.getByRole('region', { name: 'Pinned Conversations' }).waitFor()
    expect(new URL(page.url()).searchParams.get('chat')).not.toBeNull()
  })

  test('a microphone that is refused is logged, and no toast says so', async () => {
    await page.getByRole('button', { name: 'Speak your message' }).click()
    await expect.poll(() => errors.join('\n')).toContain('Failed to access microphone. Please check your permissions.')
    await noToast()
    await startChat(page, 'Typing still works')
  })

  test('signing out that fails, with the words of the service or with ours', async () => {
    const signOut = async (): Promise<void> => {
      await page.getByRole('button', { name: 'Account', exact: true }).click()
      await page.getByRole('menuitem', { name: 'Sign Out' }).click()
    }
    await page.route('**/auth/v1/logout**', (route) =>
      route.fulfill({ status: 500, contentType: 'application/json', body: '{"msg":"The service is asleep"}' }),
    )
    await signOut()
    await expectToast('Error signing out', 'The service is asleep')
    await page.unrouteAll()
    await fail('**/auth/v1/logout**')
    await signOut()
    await expectToast('Error signing out', 'An error occurred while signing out.')
    await page.unrouteAll()
    await page.route('**/auth/v1/logout**', (route) =>
      route.fulfill({ status: 403, contentType: 'application/json', body: '{"msg":"gone"}' }),
    )
    await signOut()
    await page.waitForURL('**/login')
    expect(await page.evaluate(() => localStorage.getItem('alcove-session'))).toBeNull()
  })
})
