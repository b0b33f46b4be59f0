/** Actions on an answer, in two tabs of one person, and hidden from a second person. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openPage } from './browser.ts'
import { freshAddress, signUp } from './people.ts'
import { composerOf, openStage, type Stage, startChat, storeConversation } from './stage.ts'

let stage: Stage
let here: Page
let there: Page

beforeAll(async () => {
  stage = await openStage({ models: 'stub-gpt,stub:content=plain', environment: { AUTH_AUTOCONFIRM: 'true' } })
  here = stage.page
  there = await here.context().newPage()
  await here.context().grantPermissions(['clipboard-read', 'clipboard-write'])
})
afterAll(() => stage.close())

const answers = (page: Page) => page.getByRole('article', { name: 'Answer' })
const questions = (page: Page) => page.getByRole('article', { name: 'Your message' })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** A new chat with an answer, open in both tabs. */
async function openInBoth(question: string): Promise<string> {
  await here.bringToFront()
  const id = await startChat(here, question)
  await there.goto(here.url())
  await button(there, 'Good answer').waitFor()
  return id
}

async function regenerate(page: Page, choice: string | RegExp): Promise<void> {
  await button(page, 'Regenerate').last().click()
  await page.getByRole('menuitem', { name: choice }).click()
}

test('an answer is written anew by another model in both tabs, and leafed back', async () => {
  await openInBoth('Which one? [[stub tokens=60]]')
  await regenerate(here, 'stub:content=plain')
  for (const page of [here, there]) {
    await page.getByText('2 / 2').waitFor()
    await answers(page).getByText('The quick brown fox').first().waitFor()
    expect(await answers(page).count()).toBe(1)
  }
  await button(there, 'Earlier version').click()
  await answers(there)
    .getByRole('heading', { name: /Section 1/ })
    .waitFor()
  await answers(there).getByText('stub-gpt', { exact: true }).waitFor()
  await answers(here).getByText('The quick brown fox').first().waitFor()
  await here.reload()
  await here.getByText('2 / 2').waitFor()
})

test('an earlier version that is shown says so, and gives way to the newest when something else is asked', async () => {
  const line = here.getByText('This is an earlier version. The conversation goes on from the newest one.')
  await openInBoth('Which of them? [[stub tokens=20]]')
  await regenerate(here, 'stub:content=plain')
  await here.getByText('2 / 2').waitFor()
  expect(await line.count()).toBe(0)
  await button(here, 'Earlier version').click()
  await line.waitFor()
  await composerOf(here).fill('Go on [[stub tokens=5 ttft=600]]')
  await composerOf(here).press('Control+Enter')
  await here.getByText('2 / 2').waitFor()
  await line.waitFor({ state: 'detached' })
  await expect.poll(() => button(here, 'Good answer').count()).toBe(2)
  await button(here, 'Earlier version').click()
  await line.waitFor()
  await button(here, 'Later version').click()
  await line.waitFor({ state: 'detached' })
})

test('what is written anew is seen growing in the other tab, and can be stopped from there', async () => {
  await openInBoth('Slowly [[stub tokens=20]]')
  await stage.stub.configure({ tps: 40, tokens: 4000 })
  await there.bringToFront()
  await composerOf(there).fill('Slowly, and on')
  await composerOf(there).press('Control+Enter')
  // The complete heading: a reply stopped within it would not start a second one.
  await answers(here).nth(1).getByRole('heading', { name: 'Section 1: how the pieces fit together' }).waitFor()
  await here.bringToFront()
  await button(here, 'Stop').click()
  for (const page of [here, there]) await page.getByText('You stopped this answer.').waitFor()
  await stage.stub.configure({ tps: 200, tokens: 40 })
  await button(here, 'Continue').click()
  for (const page of [here, there]) {
    await page.getByText('You stopped this answer.').waitFor({ state: 'detached' })
    await expect.poll(() => button(page, 'Good answer').count()).toBe(2)
    // The stand-in model restarts, so its first words follow the preserved ones again.
    const text = await answers(page).nth(1).textContent()
    expect(text?.match(/how the pieces fit together/g)).toHaveLength(2)
    expect(await answers(page).count()).toBe(2)
  }
})

test('an answer that reached the limit of its model says so, and goes on to its end', async () => {
  const line = (page: Page) => page.getByText('The model reached the longest answer it may give.')
  onTestFinished(() => stage.stub.configure({ words: '' }))
  await stage.stub.configure({ words: 'The lighthouse was built in 1884, and re' })
  await openInBoth('When? [[stub limit=1]]')
  for (const page of [here, there]) {
    await line(page).waitFor()
    await answers(page).getByText('The lighthouse was built in 1884, and re', { exact: true }).waitFor()
    expect(await page.getByText('You stopped this answer.').count()).toBe(0)
  }
  await stage.stub.configure({ words: 'built in 1931.' })
  await button(there, 'Continue').click()
  for (const page of [here, there]) {
    await line(page).waitFor({ state: 'detached' })
    await button(page, 'Continue').waitFor({ state: 'detached' })
    await answers(page).getByText('The lighthouse was built in 1884, and rebuilt in 1931.', { exact: true }).waitFor()
    expect(await answers(page).count()).toBe(1)
  }
})

test('an earlier message that is edited goes on in a branch, and the old conversation stays', async () => {
  const history = here.getByRole('region', { name: 'Conversations', exact: true })
  const branches = () => history.getByRole('button', { name: / Branch of “/ }).count()
  const before = await branches()
  const id = await openInBoth('First [[stub tokens=10]]')
  await composerOf(here).fill('Second [[stub tokens=11]]')
  await composerOf(here).press('Control+Enter')
  await expect.poll(() => button(here, 'Good answer').count()).toBe(2)
  await questions(here).nth(1).hover()
  await button(here, 'Edit message').nth(1).click()
  await here.getByRole('textbox', { name: 'Edit your message' }).fill('Differently [[stub tokens=12]]')
  await button(here, 'Ask in a branch').click()
  await expect.poll(() => new URL(here.url()).searchParams.get('chat')).not.toBe(id)
  await questions(here).getByText('Differently').waitFor()
  await expect.poll(() => button(here, 'Good answer').count()).toBe(2)
  expect(await questions(here).allTextContents()).toEqual([
    expect.stringContaining('First') as string,
    expect.stringContaining('Differently') as string,
  ])
  await expect.poll(() => questions(there).count()).toBe(2)
  await questions(there).getByText('Second').waitFor()
  await expect.poll(branches).toBe(before + 1)
  await history.locator('[aria-current=true]').getByText('Branch of “').waitFor()
  await button(here, 'Branched from another conversation').click()
  await questions(here).getByText('Second').waitFor()
})

test('a rating with its reason belongs to the version that was rated', async () => {
  await openInBoth('Rate me [[stub tokens=10]]')
  await button(here, 'Poor answer').click()
  await here.getByRole('textbox', { name: /What was wrong/ }).fill('It says too little.')
  await button(here, 'Save').click()
  await there.reload()
  await button(there, 'Poor answer').waitFor()
  await expect.poll(() => button(there, 'Poor answer').getAttribute('aria-pressed')).toBe('true')
  await regenerate(here, /Again with/)
  await here.getByText('2 / 2').waitFor()
  await expect.poll(() => button(here, 'Poor answer').getAttribute('aria-pressed')).toBe('false')
  await button(here, 'Earlier version').click()
  await expect.poll(() => button(here, 'Poor answer').getAttribute('aria-pressed')).toBe('true')
})

test('a title is renamed in place, and in the other tab', async () => {
  await openInBoth('Name me [[stub tokens=10]]')
  await here.getByRole('heading', { level: 1 }).hover()
  await button(here, 'Rename conversation').click()
  const field = here.getByRole('textbox', { name: 'Title of the conversation' })
  await field.fill('A quiet corner')
  await field.press('Enter')
  for (const page of [here, there]) {
    await page.getByRole('heading', { level: 1, name: 'A quiet corner' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'A quiet corner' }).waitFor()
  }
})

test('whoever has changed a title, or not, goes on with the keyboard where they were', async () => {
  const rename = button(here, 'Rename conversation')
  const hasFocus = () => rename.evaluate((element) => element === document.activeElement).catch(() => false)
  const field = here.getByRole('textbox', { name: 'Title of the conversation' })
  await rename.press('Enter')
  await field.fill('A loud corner')
  await field.press('Escape')
  await expect.poll(hasFocus).toBe(true)
  await here.getByRole('heading', { level: 1, name: 'A quiet corner' }).waitFor()
  await rename.press('Enter')
  await field.fill('A corner')
  await field.press('Enter')
  await here.getByRole('heading', { level: 1, name: 'A corner', exact: true }).waitFor()
  await expect.poll(hasFocus).toBe(true)
  await rename.press('Enter')
  await field.fill('')
  await field.press('Enter')
  await expect.poll(hasFocus).toBe(true)
  await here.getByRole('heading', { level: 1, name: 'A corner', exact: true }).waitFor()
  expect(await field.count()).toBe(0)
  await rename.press('Enter')
  await field.fill('A corner with a lamp')
  await composerOf(here).click()
  await here.getByRole('heading', { level: 1, name: 'A corner with a lamp' }).waitFor()
  expect(await composerOf(here).evaluate((element) => element === document.activeElement)).toBe(true)
})

test('a version that fails says why, and the answer stays', async () => {
  await openInBoth('Keep me [[stub tokens=10]]')
  const text = await answers(here).locator('h2').first().textContent()
  await stage.stub.configure({ error: 400 })
  await regenerate(here, /Again with/)
  for (const page of [here, there]) {
    await page.getByText('Nothing new was written.').waitFor()
    expect(await answers(page).locator('h2').first().textContent()).toBe(text)
  }
  await stage.stub.configure({ error: 0 })
})

test('an answer is copied as Markdown', async () => {
  await openInBoth('Copy me [[stub tokens=30]]')
  await here.bringToFront()
  await button(here, 'Copy answer').click()
  await button(here, 'Copied').waitFor()
  expect(await here.evaluate(() => navigator.clipboard.readText())).toBe(await stage.stub.text(30))
})

test('an answer is read aloud sentence by sentence, until it is stopped', async () => {
  // No voice is installed here, so the test provides the browser's speech interface.
  await here.addInitScript(() => {
    const spoken: string[] = []
    let ending: ReturnType<typeof setTimeout> | undefined
    Object.assign(window, { spoken })
    Object.defineProperty(window, 'speechSynthesis', {
      value: {
        getVoices: () => [],
        cancel: () => clearTimeout(ending),
        speak: (utterance: SpeechSynthesisUtterance) => {
          spoken.push(utterance.text)
          ending = setTimeout(() => void utterance.onend?.(new Event('end') as SpeechSynthesisEvent), 20)
        },
      },
    })
  })
  await startChat(here, 'Speak [[stub tokens=60 content=plain]]')
  await here.reload()
  await button(here, 'Read aloud').click()
  const spoken = () => here.evaluate(() => (window as unknown as { spoken: string[] }).spoken)
  await expect.poll(async () => (await spoken()).length).toBeGreaterThan(2)
  expect((await spoken()).slice(0, 2)).toEqual([
    'Paragraph 1.',
    'The quick brown fox jumps over the lazy dog while the measured system answers in short plain words.',
  ])
  await expect.poll(() => button(here, 'Read aloud').count()).toBe(1)
  await button(here, 'Read aloud').click()
  await button(here, 'Stop reading').click()
  await button(here, 'Read aloud').waitFor()
})

test('reading another answer aloud ends the first one alone', async () => {
  const page = await here.context().newPage()
  await page.addInitScript(() => {
    const calls: string[] = []
    Object.assign(window, { calls })
    Object.defineProperty(window, 'speechSynthesis', {
      value: {
        getVoices: () => [],
        cancel: () => calls.push('cancel'),
        speak: (utterance: SpeechSynthesisUtterance) => calls.push(utterance.text),
      },
    })
  })
  const { id } = await storeConversation(stage, 'Two voices', ['The first speaks.', 'The second speaks.'])
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await answers(page).nth(0).getByRole('button', { name: 'Read aloud' }).click()
  await answers(page).nth(1).getByRole('button', { name: 'Read aloud' }).click()
  await answers(page).nth(0).getByRole('button', { name: 'Read aloud' }).waitFor()
  await answers(page).nth(1).getByRole('button', { name: 'Stop reading' }).waitFor()
  const calls = () => page.evaluate(() => (window as unknown as { calls: string[] }).calls)
  expect((await calls()).at(-1)).toBe('The second speaks.')
  await page.getByRole('button', { name: 'New chat' }).first().click()
  await expect.poll(async () => (await calls()).at(-1)).toBe('cancel')
  await page.close()
})

test('a message that is being edited stays while another person asks', async () => {
  await openInBoth('Edit me [[stub tokens=5]]')
  await questions(here).hover()
  await button(here, 'Edit message').click()
  const box = here.getByRole('textbox', { name: 'Edit your message' })
  await box.fill('Edit me at length [[stub tokens=6]]')
  await composerOf(there).fill('From elsewhere [[stub tokens=5 hold=0]]')
  await composerOf(there).press('Control+Enter')
  await here.getByPlaceholder('Waiting for AI response...').waitFor()
  expect(await box.inputValue()).toBe('Edit me at length [[stub tokens=6]]')
  expect(await button(here, 'Ask in a branch').isDisabled()).toBe(true)
  await stage.stub.release()
  await expect.poll(() => button(here, 'Ask in a branch').isEnabled()).toBe(true)
  await button(here, 'Ask in a branch').click()
  await button(here, 'Branched from another conversation').waitFor()
  await questions(here).getByText('Edit me at length').waitFor()
})

test('a rating is stored whatever another tab has done to it meanwhile', async () => {
  const pressed = (page: Page, name: string) => expect.poll(() => button(page, name).getAttribute('aria-pressed'))
  const rate = async (page: Page, name: string, status: number) => {
    const stored = page.waitForResponse(
      (response) =>
        response.url().includes('message_feedback') &&
        response.request().method() !== 'GET' &&
        response.status() === status,
    )
    await button(page, name).click()
    await stored
  }
  await openInBoth('Rate me twice [[stub tokens=10]]')
  await rate(here, 'Good answer', 201)
  await rate(there, 'Poor answer', 200)
  await there.keyboard.press('Escape')
  await there.reload()
  await pressed(there, 'Poor answer').toBe('true')
  await rate(there, 'Poor answer', 204)
  await rate(here, 'Poor answer', 201)
  await here.keyboard.press('Escape')
  await here.reload()
  await pressed(here, 'Poor answer').toBe('true')
})

test('a title whose field is left as it was stays as it was renamed elsewhere', async () => {
  const id = await openInBoth('Call me [[stub tokens=5]]')
  await button(here, 'Rename conversation').click()
  const field = here.getByRole('textbox', { name: 'Title of the conversation' })
  await field.waitFor()
  const rename = (title: string) =>
    there.evaluate(
      async ([of, named]) =>
        (
          await fetch(`/api/conversations/${of}`, {
            method: 'PATCH',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ title: named }),
          })
        ).status,
      [id, title] as const,
    )
  expect(await rename('Renamed elsewhere')).toBe(200)
  await here.getByRole('region', { name: 'Conversations', exact: true }).getByText('Renamed elsewhere').waitFor()
  await field.blur()
  await here.getByRole('heading', { name: 'Renamed elsewhere' }).waitFor()
})

test('a second person finds none of it', async () => {
  const id = await openInBoth('Mine [[stub tokens=10]]')
  await regenerate(here, /Again with/)
  await here.getByText('2 / 2').waitFor()
  const { page } = await openPage(stage.browser, stage.alcove.url)
  await signUp(page, freshAddress('second'))
  await page.goto(`${stage.alcove.url}/?chat=${id}`)
  await expect.poll(() => new URL(page.url()).search).toBe('')
  expect(await page.getByText('Mine').count()).toBe(0)
})
