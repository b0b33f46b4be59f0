/** The page's main states in both themes, on desktop and phone, against reviewed references. */
import path from 'node:path'
import pg from 'pg'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fillConversation } from '#test/fill-conversation.ts'
import { makeDocx } from '#test/make-docx.ts'
import { makePdf } from '#test/make-pdf.ts'
import { drawText, makePng } from '#test/make-scan.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { UPLOAD_TYPES } from '#contract/file-types.ts'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { signInWithTestAccount } from './browser.ts'
import { comparePictures, expectPicture, takePicture } from './pictures.ts'
import { focusedMenuOf, openStage, type Stage, startChat } from './stage.ts'

/** A past time, before any token expires. */
const NOW = '2020-03-04T15:30:00Z'

const RICH = [
  '## How the lamp is kept\n\nThe reading lamp burns until **midnight**; after that the warden trims it.',
  '\n\n1. In winter it is lit at four.\n2. In summer nobody needs it.\n\n> A lamp that is not trimmed smokes.',
  '\n\n```ts\nconst hours = (season: Season) => (season === "winter" ? 8 : 0)\n```\n\n',
  '| Season | Hours |\n|---|---|\n| Winter | 8 |\n| Summer | 0 |\n\nOver a week that is $7 \\cdot 8 = 56$ hours.',
].join('')

let stage: Stage
let page: Page

beforeAll(async () => {
  stage = await openStage({
    signedIn: false,
    // The times below are in the past: sessions would be expired.
    environment: { DEFAULT_MODEL: 'alcove-reader', AUTH_SESSION_DAYS: '0', AUTH_SESSION_IDLE_DAYS: '0' },
    switches: ['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'],
  })
  page = stage.page
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await setTimes()
  await page.context().clock.setFixedTime(NOW)
})
afterAll(() => stage.close())

/** Moves all stored times into one past day, without live changes. */
async function setTimes(): Promise<void> {
  const { databasePassword } = await loadSecretsFromFolder(stage.dataDir)
  const client = new pg.Client({
    host: path.join(stage.dataDir, 'run'),
    user: 'postgres',
    password: databasePassword,
    database: 'alcove',
  })
  await client.connect()
  try {
    await client.query('set session_replication_role = replica')
    await client.query(`update auth.users set created_at = '2020-01-15 09:00Z'`)
    await client.query(`update auth.sessions set created_at = $1, updated_at = $1, refreshed_at = $1`, [NOW])
    await client.query(
      `update conversations c set started_at = timestamptz '2020-03-04 15:00Z' - n * interval '9 hours'
       from (select id, row_number() over (order by title) n from conversations) numbered where numbered.id = c.id`,
    )
    await client.query(`update messages set created_at = '2020-03-04 15:07Z'`)
    await client.query(
      `update messages set metadata = jsonb_set(metadata, '{trace,ms}', '24') where metadata ? 'trace'`,
    )
    await client.query(
      `update documents d set uploaded_at = timestamptz '2020-03-04 12:00Z' - n * interval '1 day'
       from (select id, row_number() over (order by filename) n from documents) numbered where numbered.id = d.id`,
    )
  } finally {
    await client.end()
  }
}

const upload = (name: string, type: string, bytes: Buffer) =>
  page.evaluate(
    async ([fileName, mediaType, content]) => {
      const form = new FormData()
      const file = Uint8Array.from(atob(content), (character) => character.charCodeAt(0))
      form.append('files', new File([file], fileName, { type: mediaType }))
      await fetch('/api/documents', { method: 'POST', body: form })
    },
    [name, type, bytes.toString('base64')] as const,
  )

let phone = false

async function looksAsBefore(state: string): Promise<void> {
  await page.mouse.move(0, 0)
  const failed: unknown[] = []
  for (const theme of ['dark', 'light']) {
    await page.evaluate((name) => {
      document.documentElement.dataset['theme'] = name
    }, theme)
    await expectPicture(page, `${state}.${phone ? 'phone' : 'desk'}.${theme}`).catch((error: unknown) =>
      failed.push(error),
    )
  }
  expect(failed).toEqual([])
}

const at = (place: string) => page.goto(`${stage.alcove.url}${place}`)
const button = (name: string) => page.getByRole('button', { name, exact: true })
const heading = (name: string) => page.getByRole('heading', { name, exact: true })

async function openTab(name: string): Promise<void> {
  if (phone) await button('Open navigation').click()
  const tab = page.getByRole('navigation', { name: 'Main' }).getByRole('button', { name, exact: true })
  if ((await tab.getAttribute('aria-expanded')) !== 'true') await tab.click()
  await page.locator(`nav [aria-label="${name}"][aria-expanded=true]`).waitFor()
}

/** Vertical position of the marked passage, as a share of the viewer. */
const markedShare = () =>
  page.getByRole('region', { name: 'Document', exact: true }).evaluate((pane) => {
    const [range] = CSS.highlights.get('source-passage') ?? []
    const { top, height } = pane.getBoundingClientRect()
    return range instanceof Range ? (range.getBoundingClientRect().top - top) / height : Number.NaN
  })

const setSize = (isPhone: boolean) => async () => {
  phone = isPhone
  await page.setViewportSize(isPhone ? { width: 390, height: 844 } : { width: 1440, height: 900 })
}

const sizes = [
  ['on a desk', false],
  ['on a phone', true],
] as const

describe('the comparison itself', () => {
  let reference: Buffer

  beforeAll(async () => {
    await setSize(false)()
    await at('/login')
    await heading('Sign in to Alcove').waitFor()
    await page.mouse.move(0, 0)
    reference = await takePicture(page)
  })

  /** Changes an element's style, takes a screenshot, and restores the style. */
  async function compareWith(selector: string, style: Record<string, string>) {
    const change = (values: Record<string, string>) =>
      page
        .locator(selector)
        .first()
        .evaluate((element, given) => {
          if (element instanceof HTMLElement || element instanceof SVGElement) Object.assign(element.style, given)
        }, values)
    await change(style)
    const picture = await takePicture(page)
    await change(Object.fromEntries(Object.keys(style).map((name) => [name, ''])))
    return comparePictures(picture, reference)
  }

  test.each([
    ['nothing', {}],
    ['letters a third of a pixel to the right', { transform: 'translateX(0.33px)' }],
    ['letters drawn a little bolder', { webkitTextStroke: '0.15px currentColor' }],
  ])('bears %s', async (_, style) => {
    const { same, worst } = await compareWith('h1', style)
    expect(same, String(worst)).toBe(true)
  })

  test.each([
    ['a missing mark', 'svg', { visibility: 'hidden' }],
    ['a missing line', 'form button:not([type=submit])', { visibility: 'hidden' }],
    ['a heading in another place', 'h1', { transform: 'translateX(6px)' }],
    ['a button in another place', '[type=submit]', { transform: 'translateY(4px)' }],
    ['another colour', 'body', { backgroundColor: 'rgb(90 60 60)' }],
  ])('finds %s', async (_, selector, style) => {
    const { same, worst } = await compareWith(selector, style)
    expect(same, String(worst)).toBe(false)
  })
})

describe.each(sizes)('before signing in, %s', (_, isPhone) => {
  beforeAll(setSize(isPhone))

  test('the sign-in page, with an error, and the sign-up page', async () => {
    await at('/login')
    await heading('Sign in to Alcove').waitFor()
    await looksAsBefore('sign-in')
    await page.getByPlaceholder('Enter your email').fill('somebody@example.test')
    await page.getByPlaceholder('Enter your password').fill('not the password')
    await button('Sign in').click()
    await page.getByRole('alert').getByText('Invalid login credentials').waitFor()
    await button('Close notification').waitFor()
    await looksAsBefore('sign-in-failed')
    await button('Close notification').click()
    await page.getByRole('button', { name: "Don't have an account? Sign up" }).click()
    await heading('Create an account').waitFor()
    await looksAsBefore('sign-up')
  })

  test('the gate with an error, and the page that was not found', async () => {
    await page.route('**/config.json', (route) => route.abort())
    await at('/')
    await heading('Authentication Error').waitFor()
    await looksAsBefore('gate-error')
    await page.unrouteAll()
    await at('/elsewhere')
    await heading('404 Page Not Found').waitFor()
    await looksAsBefore('not-found')
  })
})

describe('of somebody new', () => {
  beforeAll(async () => {
    await setSize(false)()
    await at('/login')
    await signInWithTestAccount(page)
    await setTimes()
  })

  test.each(sizes)('the welcome card, its drop area, the walk-through and the empty chat %s', async (_, isPhone) => {
    await setSize(isPhone)()
    await at('/')
    await page.getByText('Getting Started', { exact: true }).waitFor()
    await looksAsBefore('welcome')
    await button('Upload your first document').click()
    await page.getByText('Drag files here or tap to upload').waitFor()
    await looksAsBefore('upload')
    await button('Watch tutorial').click()
    await page.getByRole('dialog').waitFor()
    await looksAsBefore('walk-through')
    for (const step of [2, 3, 4]) {
      await button('Next').click()
      await page.getByText(`${step} of 4`, { exact: true }).waitFor()
      await looksAsBefore(`walk-through-${step}`)
    }
    await page.keyboard.press('Escape')
    if (isPhone) await button('Open navigation').click()
    await button('New chat').first().click()
    await heading('Welcome back!').waitFor()
    await looksAsBefore('empty-chat')
  })
})

describe('of somebody at work', () => {
  let cited = ''

  beforeAll(async () => {
    await setSize(false)()
    await upload(
      'lamps.pdf',
      'application/pdf',
      makePdf([
        '# Rules of the alcove\nThe alcove is open to everyone who reads.',
        '# Of the lamp\nThe reading lamp burns until midnight. After that the warden trims it.\n\nIn winter it is lit at four.',
      ]),
    )
    await upload('bees.txt', 'text/plain', Buffer.from('Bees hum in the lime tree until dusk.'))
    await at('/')
    await button('New chat').first().click()
    await page.getByText('2 documents indexed').waitFor({ timeout: 60_000 })
    cited = await startChat(page, 'Who trims the reading lamp after midnight?')
    await fillConversation(stage.dataDir, { title: 'How the lamp is kept' }, [
      { sender_role: 1, content: 'How is the lamp kept? @knowledge' },
      {
        sender_role: 3,
        content: 'lamps.pdf p.2: The reading lamp burns until midnight.',
        metadata: { tool_name: 'knowledge', duration_ms: 42 },
      },
      { sender_role: 2, content: RICH },
    ])
    await fillConversation(stage.dataDir, { title: 'A question that found no answer' }, [
      { sender_role: 1, content: 'What does the warden read?' },
      {
        sender_role: 2,
        content: '',
        metadata: { error: { code: 'provider', message: 'The model had an error of its own (500).', retryable: true } },
      },
    ])
    await setTimes()
  })

  describe.each(sizes)('%s', (_, isPhone) => {
    beforeAll(setSize(isPhone))

    test('the list of documents', async () => {
      await at('/')
      await page
        .getByRole('button', { name: 'Dismiss getting started' })
        .or(heading('Your Documents'))
        .first()
        .waitFor()
      const dismiss = page.getByRole('button', { name: 'Dismiss getting started' })
      if ((await dismiss.count()) > 0) await dismiss.click()
      await heading('Your Documents').waitFor()
      await looksAsBefore('documents')
    })

    test('an answer with its sources, and the reader at the passage', async () => {
      await at(`/?chat=${cited}`)
      const source = page.getByRole('button', { name: /Source 1: lamps\.pdf page 2/ }).first()
      await source.waitFor()
      await looksAsBefore('answer')
      await source.click()
      await page.locator('[data-passage=true][data-fitted=true]').waitFor()
      await page.locator('[data-page="2"][data-drawn=true]').waitFor()
      await expect.poll(markedShare).toBeCloseTo(0.3, 2)
      await looksAsBefore('reader')
    })

    test('a long answer, and one that failed', async () => {
      await at('/')
      await openTab('Chat')
      await page.getByRole('listitem').filter({ hasText: 'How the lamp is kept' }).getByRole('button').first().click()
      await heading('How the lamp is kept').last().waitFor()
      await page.locator('math, .katex').first().waitFor()
      await looksAsBefore('long-answer')
      await openTab('Chat')
      await page.getByRole('listitem').filter({ hasText: 'no answer' }).getByRole('button').first().click()
      await button('Retry').waitFor()
      await looksAsBefore('failed-answer')
    })

    test.each(['Chat', 'Files', 'Users', 'Settings'])('the tab %s', async (name) => {
      await at('/')
      await openTab(name)
      await page.locator('#side-panel').getByRole('heading').first().waitFor()
      await page.waitForLoadState('networkidle')
      await looksAsBefore(`tab-${name.toLowerCase()}`)
    })

    test('the question before deleting', async () => {
      await at('/')
      await openTab('Chat')
      await page.getByRole('button', { name: /^Space:/ }).waitFor()
      await page.getByRole('listitem').filter({ hasText: 'no answer' }).hover()
      await page.getByRole('button', { name: /^Delete A question/ }).click()
      await page.getByRole('alertdialog').waitFor()
      await looksAsBefore('delete')
    })

    test('the menus of the header', async () => {
      await at('/')
      const open = async (name: string | RegExp) => {
        await page
          .getByRole('banner')
          .getByRole('button', { name, exact: typeof name === 'string' })
          .click()
        await focusedMenuOf(page).waitFor()
      }
      // Its button gets the focus back after it is gone, and would take it from a menu that is opened before that.
      const close = async () => {
        await page.keyboard.press('Escape')
        await page.getByRole('banner').locator('button[aria-expanded=false]:focus').waitFor()
      }
      await open(/^Model/)
      await page.getByText('No key is configured for Anthropic.').first().waitFor()
      await looksAsBefore('menu-models')
      await close()
      await open('Settings')
      // On a phone a submenu has no room at the side.
      if (!isPhone) await page.getByRole('menuitem', { name: 'Appearance' }).press('ArrowRight')
      await page.getByRole('menuitemradio', { name: 'Dark' }).waitFor()
      await looksAsBefore('menu-settings')
      await close()
      await open('Account')
      await looksAsBefore('menu-account')
    })

    test('the palette, with what it found', async () => {
      await at('/')
      await page.getByRole('banner').waitFor()
      await page.keyboard.press('Control+k')
      const dialog = page.getByRole('dialog', { name: 'Search and commands' })
      await dialog.getByRole('option').first().waitFor()
      await looksAsBefore('palette')
      await dialog.getByRole('combobox').fill('lamp')
      await dialog
        .getByRole('option', { name: /lamps\.pdf/ })
        .locator('mark')
        .first()
        .waitFor()
      await looksAsBefore('palette-found')
      await dialog.getByRole('combobox').fill('zanzibar')
      await dialog.getByText('Nothing found for').waitFor()
      await looksAsBefore('palette-nothing')
    })

    test.skipIf(isPhone)('a notification', async () => {
      await at('/')
      await openTab('Chat')
      const row = page.getByRole('listitem').filter({ hasText: 'no answer' })
      await row.hover()
      await row.getByRole('button', { name: /^Pin / }).click()
      await button('Close notification').waitFor()
      // A focused toast does not time out.
      await button('Close notification').focus()
      await looksAsBefore('toast')
      await row.hover()
      await row.getByRole('button', { name: /^Unpin / }).click()
      await page.getByText('Conversation unpinned', { exact: true }).waitFor()
    })

    test('files dragged over the page', async () => {
      await at('/')
      await page.getByRole('banner').waitFor()
      const files = await page.evaluateHandle(() => {
        const dragged = new DataTransfer()
        dragged.items.add(new File(['bees'], 'bees.txt', { type: 'text/plain' }))
        return dragged
      })
      await page.getByRole('main').dispatchEvent('dragenter', { dataTransfer: files })
      await page.getByText('Drop files here to upload').waitFor()
      await looksAsBefore('drop')
    })

    test('the message box that listens, and turns speech into text', async () => {
      await at('/')
      await page.getByRole('banner').waitFor()
      if (isPhone) await button('Open navigation').click()
      await button('New chat').first().click()
      const asked = Promise.withResolvers<Route>()
      await page.route('**/api/transcribe', (route) => asked.resolve(route))
      // One chunk at the end: the clock is stopped until then.
      await page.evaluate(() => {
        window.MediaRecorder = class extends MediaRecorder {
          override start() {
            super.start()
          }
        }
      })
      await button('Speak your message').click()
      await button('Stop recording').waitFor()
      await looksAsBefore('recording')
      await button('Stop recording').click()
      await button('Turning speech into text').waitFor()
      await looksAsBefore('transcribing')
      // The failed recording survives a reload; no other screenshot may show it.
      await (await asked.promise).abort()
      await button('Discard recording').click()
      await button('Discard recording').waitFor({ state: 'detached' })
      await page.unrouteAll()
    })

    test('the debug panel', async () => {
      await at('/')
      await page.getByRole('banner').waitFor()
      await page.keyboard.press('Control+Shift+D')
      await heading('Broadcast Testing Panel').waitFor()
      await page.evaluate(() => {
        for (const id of document.querySelectorAll('[aria-label="Broadcast Testing Panel"] dd'))
          if (/-/.test(id.textContent)) id.textContent = '5f0d8a9e-6a0f-4b7e-9d3c-2b1f6c0a7e11'
      })
      await looksAsBefore('debug')
    })

    test('a history that is loading', async () => {
      await page.route('**/rest/v1/conversations**', () => undefined)
      await at('/')
      if (isPhone) await button('Open navigation').click()
      await page.getByText('Loading conversations...').waitFor()
      await looksAsBefore('loading')
      await page.unrouteAll()
    })

    test('what failed to load', async () => {
      await page.route(/\/(rest\/v1|api)\//, (route) => route.abort())
      await at(`/?chat=${cited}`)
      await page.getByText('Failed to load chat history. Please try again.').waitFor()
      await button('Close notification').waitFor()
      await looksAsBefore('failed')
      await page.unrouteAll()
    })
  })
})

describe('the reader of other files', () => {
  beforeAll(async () => {
    const rows = [
      ['Season', 'Lamps', 'Hours', 'Oil'],
      ['Winter', 3, 8, { v: 1234.5, z: '#,##0.00' }],
      ['Spring', 2, 4, { v: 310, z: '#,##0.00' }],
      ['Summer', 0, 0, null],
    ]
    await upload('hours.xlsx', UPLOAD_TYPES.xlsx, makeWorkbook([{ name: 'Hours', rows }]))
    const blocks = [
      { heading: 'Of the warden' },
      { paragraph: 'The warden trims the lamp after midnight, and in winter at four.' },
      { rows: rows.map((row) => row.slice(0, 3).map(String)) },
    ]
    await upload('warden.docx', UPLOAD_TYPES.docx, makeDocx(blocks))
    const picture = await makePng(await drawText('The warden trims the lamp after midnight,\n\nand in winter at four.'))
    await upload('lamp.png', UPLOAD_TYPES.png, picture)
    await at('/')
    await page.getByText('5 documents indexed').waitFor({ timeout: 60_000 })
  })

  test.each(
    sizes.flatMap(([where, isPhone]) => [
      ['text', 'bees.txt', where, isPhone] as const,
      ['workbook', 'hours.xlsx', where, isPhone] as const,
      ['word', 'warden.docx', where, isPhone] as const,
      ['image', 'lamp.png', where, isPhone] as const,
    ]),
  )('%s: %s %s', async (kind, name, _, isPhone) => {
    await setSize(isPhone)()
    await at('/')
    await openTab('Files')
    const row = page.getByRole('region', { name: 'Files' }).getByRole('listitem').filter({ hasText: name })
    await row.getByRole('button', { name, exact: true }).click()
    await page.getByRole('region', { name: 'Document', exact: true }).waitFor()
    await setTimes()
    await page.reload()
    await page.getByRole('region', { name: 'Document', exact: true }).waitFor()
    await page.waitForLoadState('networkidle')
    await looksAsBefore(`reader-${kind}`)
  })
})
