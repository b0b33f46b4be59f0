import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { documentRow, pageText, rejectedFile, uploadAnswer } from '#contract/document.ts'
import { loadSecretsFromFolder } from '#server/access/secrets.ts'
import { createTokens } from '#server/access/tokens.ts'
import { INERT_CONTENT_POLICY } from '#server/base/content-policy.ts'
import { createLog } from '#server/base/log.ts'
import { createDiskStore } from '#server/blobs/disk.ts'
import { withReusedBuffers } from '#server/blobs/send.ts'
import { createDocumentJobs } from '#server/documents/ingest/ingest-job.ts'
import { installJobs } from '#server/jobs/install.ts'
import { type Jobs, startJobs } from '#server/jobs/start.ts'
import { createTestDatabase, type TestDatabase } from '#test/database.ts'
import { makePdf } from '#test/make-pdf.ts'
import { makeWorkbook } from '#test/make-workbook.ts'
import { createDocumentRoutes } from './documents.ts'

const log = createLog('warn')
const errorAnswer = z.object({ error: z.object({ code: z.string(), message: z.string() }) })
const refusal = errorAnswer.extend({ documents: z.array(documentRow), rejected: z.array(rejectedFile) })

let database: TestDatabase
let dataDir: string
let jobs: Jobs
let server: ReturnType<typeof serve>
let address: string
let tokenOf: (claims: Record<string, unknown>) => Promise<string>

beforeAll(async () => {
  database = await createTestDatabase()
  dataDir = await mkdtemp(path.join(tmpdir(), 'alcove-documents-'))
  await installJobs(database.adminConnection)
  const tokens = await createTokens(await loadSecretsFromFolder(dataDir))
  tokenOf = (claims) => {
    const now = Math.floor(Date.now() / 1000)
    return tokens.sign({ ...claims, session_id: randomUUID(), iss: 'test', iat: now, exp: now + 600 })
  }
  const blobs = createDiskStore(dataDir)
  jobs = startJobs({
    connection: database.connection,
    log,
    handlers: createDocumentJobs({ database: database.database, blobs, log }),
  })
  const app = new Hono()
  app.route(
    '/api/documents',
    createDocumentRoutes({
      database: database.database,
      tokens,
      blobs,
      jobs,
      log,
      address: 'http://127.0.0.1',
      accessWatch: { watch: () => () => undefined },
    }),
  )
  await new Promise<void>((resolve) => {
    server = serve(
      { fetch: withReusedBuffers(app.fetch, log), port: 0, hostname: '127.0.0.1' },
      ({ port }: AddressInfo) => {
        address = `http://127.0.0.1:${port}/api/documents`
        resolve()
      },
    )
  })
})

afterAll(async () => {
  server.close()
  await jobs.stop()
  await database.drop()
  await rm(dataDir, { recursive: true })
})

async function person() {
  const claims = await database.createPerson()
  const authorization = `Bearer ${await tokenOf(claims)}`
  const call = (where = '', init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {}) => {
    const type = typeof init.body === 'string' ? { 'content-type': 'application/json' } : {}
    return fetch(`${address}${where}`, { ...init, headers: { authorization, ...type, ...init.headers } })
  }
  const upload = (...files: [name: string, bytes: Uint8Array<ArrayBuffer> | string][]) => {
    const form = new FormData()
    for (const [name, bytes] of files) form.append('files', new File([bytes], name))
    return call('', { method: 'POST', body: form })
  }
  const uploadOne = async (name: string, bytes: Uint8Array<ArrayBuffer> | string) => {
    const { documents } = uploadAnswer.parse(await (await upload([name, bytes])).json())
    return documentRow.parse(documents[0])
  }
  const finished = async (id: string) => {
    for (;;) {
      const row = documentRow.parse(await (await call(`/${id}`)).json())
      if (row.state === 'ready' || row.state === 'failed') return row
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  return { claims, call, upload, uploadOne, finished }
}

const pdf = (...pages: string[]) => new Uint8Array(makePdf(pages))

async function countBlobs(): Promise<number> {
  const names = await readdir(dataDir, { recursive: true })
  return names.filter((name) => /[0-9a-f-]{36}/.test(name)).length
}

describe('uploading', () => {
  test('stores a pdf, reads it and serves its pages with item runs', async () => {
    const { upload, finished, call } = await person()
    const answer = await upload(['Bericht Mai.pdf', pdf('The first page.', 'Invoices are due within 45 days.')])
    expect(answer.status).toBe(201)
    const { documents, rejected } = uploadAnswer.parse(await answer.json())
    expect(rejected).toEqual([])
    expect(documents[0]).toMatchObject({
      filename: 'Bericht Mai.pdf',
      originalname: 'Bericht Mai.pdf',
      mimetype: 'application/pdf',
      state: 'queued',
    })
    const id = documents[0]?.id ?? ''
    expect(await finished(id)).toMatchObject({ state: 'ready', pages: 2, pages_done: 2, error: null })
    const page: unknown = await (await call(`/${id}/pages/2`)).json()
    expect(page).toEqual({
      page: 2,
      text: 'Invoices are due within 45 days.',
      items: [[0, 0, 0, 32]],
      blocks: [{ kind: 'paragraph', start: 0, end: 32 }],
    })
  })

  test('lets the good files of an upload through and names the others', async () => {
    const { upload } = await person()
    const answer = await upload(
      ['empty.txt', ''],
      ['note.txt', 'A note about the garden.'],
      ['tool.pdf', 'MZ\u0000\u0001not a pdf'],
      ['page.html', '<p>hello</p>'],
    )
    expect(answer.status).toBe(201)
    const { documents, rejected } = uploadAnswer.parse(await answer.json())
    expect(documents.map(({ filename }) => filename)).toEqual(['note.txt'])
    expect(rejected.map(({ name, status }) => [name, status])).toEqual([
      ['empty.txt', 422],
      ['tool.pdf', 415],
      ['page.html', 415],
    ])
    for (const { name, message } of rejected) expect(message).toContain(name)
  })

  test('answers with the status of the first refusal when nothing is taken', async () => {
    const { upload } = await person()
    const answer = await upload(['empty.pdf', ''], ['page.html', '<p>'])
    expect(answer.status).toBe(422)
    expect(refusal.parse(await answer.json())).toMatchObject({
      documents: [],
      error: { code: 'empty', message: '"empty.pdf" is empty.' },
    })
  })

  test('refuses what is over 25 MB, keeps nothing of it, and takes what is exactly 25 MB', async () => {
    const { upload } = await person()
    const before = await countBlobs()
    const limit = 25 * 1024 * 1024
    const answer = await upload(
      ['large.txt', new Uint8Array(limit + 1).fill(97)],
      ['limit.txt', new Uint8Array(limit).fill(98)],
    )
    const { documents, rejected } = uploadAnswer.parse(await answer.json())
    expect(rejected).toMatchObject([{ name: 'large.txt', status: 413 }])
    expect(documents).toMatchObject([{ filename: 'limit.txt', size: limit }])
    expect(await countBlobs()).toBe(before + 1)
  })

  test('goes by the content where the extension is wrong', async () => {
    const { upload } = await person()
    const { documents } = uploadAnswer.parse(await (await upload(['scan.docx', pdf('Really a pdf.')])).json())
    expect(documents).toMatchObject([{ originalname: 'scan.docx', mimetype: 'application/pdf' }])
  })

  test('answers the same bytes with the document that is there, per person', async () => {
    const [first, second] = [await person(), await person()]
    const bytes = pdf('Only once.')
    const one = await first.uploadOne('a.pdf', bytes)
    const blobs = await countBlobs()
    const again = await first.upload(['b.pdf', bytes])
    expect(again.status).toBe(200)
    expect(uploadAnswer.parse(await again.json()).documents.map(({ id }) => id)).toEqual([one.id])
    expect(await countBlobs()).toBe(blobs)
    expect((await second.uploadOne('a.pdf', bytes)).id).not.toBe(one.id)
  })

  test('gives the same document to two uploads at the same moment', async () => {
    const { uploadOne } = await person()
    const bytes = pdf('Twice at once.')
    const [left, right] = await Promise.all([uploadOne('a.pdf', bytes), uploadOne('a.pdf', bytes)])
    expect(left.id).toBe(right.id)
  })

  test('takes no path from a file name', async () => {
    const { uploadOne } = await person()
    expect(await uploadOne('../../etc/pass\u202ewd.txt', 'harmless')).toMatchObject({ originalname: 'passwd.txt' })
  })

  test('keeps the folder of a file, as a label', async () => {
    const { call, finished } = await person()
    const form = new FormData()
    form.append('files', new File(['Before any folder.'], 'first.txt'))
    const folders = ['Verträge/2024', '/../etc\\.//pass\u0007wd/', 'x/'.repeat(500)]
    for (const [index, folder] of folders.entries()) {
      form.append('folder', folder)
      form.append('files', new File([`The rent of flat ${index}.`], `flat ${index}.txt`))
    }
    const { documents } = uploadAnswer.parse(await (await call('', { method: 'POST', body: form })).json())
    expect(documents.map(({ folder, filename }) => [folder, filename])).toEqual([
      ['', 'first.txt'],
      ['Verträge/2024', 'flat 0.txt'],
      ['etc/passwd', 'flat 1.txt'],
      ['x/'.repeat(384).slice(0, -1), 'flat 2.txt'],
    ])
    for (const { id } of documents) expect((await finished(id)).state).toBe('ready')
    const namesFor = async (query: string) => namesOf(await call(query))
    expect(await namesFor(`?search=${encodeURIComponent('VERTRÄGE/2024/FLAT')}`)).toEqual(['flat 0.txt'])
    expect(await namesFor(`/matches?name=${encodeURIComponent('flat 2024 vertrage')}`)).toEqual(['flat 0.txt'])
    const names: unknown = await (await call('/names?search=etc%2F')).json()
    expect(names).toMatchObject([{ folder: 'etc/passwd', filename: 'flat 1.txt' }])
  })

  test('a newer version is in the folder of the document', async () => {
    const { call, finished } = await person()
    const send = async (where: string, folder: string, text: string) => {
      const form = new FormData()
      form.append('folder', folder)
      form.append('files', new File([text], 'lease.txt'))
      const { documents } = uploadAnswer.parse(await (await call(where, { method: 'POST', body: form })).json())
      return documentRow.parse(documents[0])
    }
    const first = await send('', 'Contracts', 'The first lease.')
    await finished(first.id)
    expect(await send(`/${first.id}/versions`, 'Elsewhere', 'The second.')).toMatchObject({ folder: 'Contracts' })
  })

  test('refuses what is no multipart upload', async () => {
    const { call } = await person()
    const answer = await call('', { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })
    expect(answer.status).toBe(415)
    expect(errorAnswer.parse(await answer.json()).error).toMatchObject({
      code: 'unsupported_type',
      message: 'Upload files as multipart/form-data.',
    })
    expect((await call('', { method: 'POST', body: new URLSearchParams({ files: 'x' }) })).status).toBe(415)
    expect((await call('', { method: 'POST', body: new FormData() })).status).toBe(400)
  })

  test('keeps nothing of an upload that breaks off', async () => {
    const { call, claims } = await person()
    const before = await countBlobs()
    const boundary = 'x'
    const body = `--${boundary}\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhalf of a fi`
    const answer = await call('', {
      method: 'POST',
      body,
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    })
    expect(answer.status).toBe(400)
    expect(await countBlobs()).toBe(before)
    const rows = await database.admin.query('select from documents where owner = $1', [claims.sub])
    expect(rows.rowCount).toBe(0)
  })
})

describe('serving the file', () => {
  test('gives the bytes back, whole and in ranges, and nothing that could run', async () => {
    const { uploadOne, call } = await person()
    const bytes = pdf('Some bytes.')
    const { id } = await uploadOne('Prüfung "1".pdf', bytes)
    const whole = await call(`/${id}/file`)
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true)
    expect(whole.headers.get('etag')).toBe(`"${createHash('sha256').update(bytes).digest('hex')}"`)
    expect(whole.headers.get('x-content-type-options')).toBe('nosniff')
    expect(whole.headers.get('content-security-policy')).toBe(INERT_CONTENT_POLICY)
    expect(whole.headers.get('content-disposition')).toBe(
      `attachment; filename="Pr_fung _1_.pdf"; filename*=UTF-8''Pr%C3%BCfung%20%221%22.pdf`,
    )

    const range = async (value: string) => {
      const answer = await call(`/${id}/file`, { headers: { range: value } })
      return [answer.status, answer.headers.get('content-range'), await answer.text()]
    }
    expect(await range('bytes=0-3')).toEqual([206, `bytes 0-3/${bytes.length}`, '%PDF'])
    expect(await range('bytes=-6')).toEqual([
      206,
      `bytes ${bytes.length - 6}-${bytes.length - 1}/${bytes.length}`,
      '%%EOF\n',
    ])
    expect(await range(`bytes=${bytes.length}-`)).toEqual([416, `bytes */${bytes.length}`, ''])
    expect((await range('bytes=0-1,3-4'))[0]).toBe(200)
    const etag = whole.headers.get('etag') ?? ''
    expect((await call(`/${id}/file`, { headers: { 'if-none-match': etag } })).status).toBe(304)
    const head = await call(`/${id}/file`, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)])
  })

  test('shows text as plain text', async () => {
    const { uploadOne, call } = await person()
    const { id } = await uploadOne('page.txt', '<script>alert(1)</script>')
    expect((await call(`/${id}/file`)).headers.get('content-type')).toBe('text/plain; charset=utf-8')
  })
})

describe('versions', () => {
  const versionForm = (...files: [name: string, bytes: Uint8Array<ArrayBuffer>][]) => {
    const body = new FormData()
    for (const [name, bytes] of files) body.append('files', new File([bytes], name))
    return { method: 'POST', body }
  }

  test('are added to a document, listed newest first, and each served with its own bytes', async () => {
    const { uploadOne, finished, call } = await person()
    const first = await uploadOne('lamp.pdf', pdf('Whale oil.'))
    await finished(first.id)
    const added = await call(`/${first.id}/versions`, versionForm(['lamp 2.pdf', pdf('Paraffin.')]))
    expect(added.status).toBe(201)
    const second = uploadAnswer.parse(await added.json()).documents[0]
    expect(second).toMatchObject({ series: first.series, version: 2, filename: 'lamp.pdf', originalname: 'lamp 2.pdf' })
    await finished(second?.id ?? '')
    const versions = z.array(documentRow).parse(await (await call(`/${first.id}/versions`)).json())
    expect(versions.map(({ version, superseded_at }) => [version, superseded_at === null])).toEqual([
      [2, true],
      [1, false],
    ])
    const bytes = new Uint8Array(await (await call(`/${first.id}/file`)).arrayBuffer())
    expect(bytes).toEqual(pdf('Whale oil.'))
  })

  test('are not taken twice, nor from another document, nor two at a time', async () => {
    const { uploadOne, call } = await person()
    const first = await uploadOne('lamp.pdf', pdf('Whale oil.'))
    await uploadOne('oil.pdf', pdf('Paraffin.'))
    const refusal = async (...files: [string, Uint8Array<ArrayBuffer>][]) => {
      const answer = await call(`/${first.id}/versions`, versionForm(...files))
      const { error } = z.object({ error: z.object({ message: z.string() }) }).parse(await answer.json())
      return [answer.status, error.message]
    }
    expect(await refusal(['a.pdf', pdf('Whale oil.')])).toEqual([
      409,
      '"a.pdf" is the same file as version 1 of this document.',
    ])
    expect(await refusal(['b.pdf', pdf('Paraffin.')])).toEqual([
      409,
      '"b.pdf" is in your library already, as "oil.pdf".',
    ])
    expect(await refusal(['c.pdf', pdf('Gas.')], ['d.pdf', pdf('Wax.')])).toEqual([
      400,
      'Upload no more than one file at a time.',
    ])
  })

  test('are refused to another person, and nothing of the upload is kept', async () => {
    const [owner, other] = [await person(), await person()]
    const first = await owner.uploadOne('lamp.pdf', pdf('Whale oil.'))
    const before = await countBlobs()
    expect((await other.call(`/${first.id}/versions`, versionForm(['a.pdf', pdf('Gas.')]))).status).toBe(404)
    expect((await other.call(`/${first.id}/versions`)).status).toBe(404)
    expect((await other.call(`/${first.id}/report`)).status).toBe(404)
    expect(await countBlobs()).toBe(before)
    expect(z.array(documentRow).parse(await (await owner.call(`/${first.id}/versions`)).json())).toHaveLength(1)
  })
})

test('a list past the bound is refused, and its pages hold everything', async () => {
  const { claims, call } = await person()
  await database.admin.query(
    `insert into documents (owner, filename, originalname, mimetype, size, path, sha256, state, uploaded_at)
     select $1::uuid, 'file ' || i, repeat('n', 950000), 'text/plain', 1, i::text, $1::uuid || ' ' || i, 'failed',
       timestamptz '2026-01-01' + (i / 2) * interval '1 microsecond'
     from generate_series(1, 40) i`,
    [claims.sub],
  )
  const refused = await call()
  const { error } = errorAnswer.parse(await refused.json())
  expect([refused.status, error.code]).toEqual([413, 'too_large'])
  expect(error.message).toMatch(/\?limit=100&after=/)
  const ids: string[] = []
  for (let after = ''; ;) {
    const page = z.array(documentRow).parse(await (await call(`?limit=15${after}`)).json())
    ids.push(...page.map(({ id }) => id))
    if (page.length < 15) break
    after = `&after=${page.at(-1)?.id ?? ''}`
  }
  const { rows } = await database.admin.query<{ id: string }>(
    'select id from documents where owner = $1 order by uploaded_at desc, id',
    [claims.sub],
  )
  expect(ids).toEqual(rows.map(({ id }) => id))
  expect((await call(`?after=${ids[0] ?? ''}`)).status).toBe(413)
  const stranger = await person()
  expect((await stranger.call(`?after=${ids[0] ?? ''}`)).status).toBe(404)
})

/** Stores documents without bytes, all uploaded at the same time but for `uploadedAt`. */
async function storeNamed(owner: string, names: readonly string[], uploadedAt = '2026-01-01'): Promise<void> {
  await database.admin.query(
    `insert into documents (owner, filename, originalname, mimetype, size, path, sha256, state, uploaded_at)
     select $1, name, name, 'text/plain', 1, gen_random_uuid(), gen_random_uuid(), 'ready', $3::timestamptz
     from unnest($2::text[]) as name`,
    [owner, names, uploadedAt],
  )
}

const rowsOf = async (response: Response) => z.array(documentRow).parse(await response.json())
const namesOf = async (response: Response) => (await rowsOf(response)).map(({ filename }) => filename)

describe('lists in other orders', () => {
  test.each(['order=name', 'order=name&descending=true', 'descending=false', 'search=R', 'order=name&search=.txt'])(
    'pages of ?%s hold everything once, also of equal names and times',
    async (view) => {
      const { claims, call } = await person()
      const names = ['Rent 2.txt', 'Rent 10.txt', 'rent 2.txt', 'Rent 2.txt', 'Rent 2.txt', 'résumé.txt', 'Resume.txt']
      await storeNamed(claims.sub, names)
      await storeNamed(claims.sub, names, '2026-01-01 00:00:00.000001')
      const whole = await rowsOf(await call(`?${view}`))
      expect(whole.map(({ filename }) => filename).toSorted()).toEqual([...names, ...names].toSorted())
      const paged: string[] = []
      for (let after = ''; ;) {
        const page = await rowsOf(await call(`?${view}&limit=3${after}`))
        paged.push(...page.map(({ id }) => id))
        if (page.length < 3) break
        after = `&after=${page.at(-1)?.id ?? ''}`
      }
      expect(paged).toEqual(whole.map(({ id }) => id))
    },
  )

  test('names are sorted as the page sorts them', async () => {
    const { claims, call } = await person()
    const names = [
      'Zoo',
      'apples',
      'Äpfel',
      'Chapter 10',
      'chapter 2',
      'Straße 1',
      'strasse 2',
      '_notes',
      '日記',
      'Ωmega',
      'été',
    ]
    await storeNamed(claims.sub, names)
    const sorted = await namesOf(await call('?order=name'))
    expect(sorted).toEqual(names.toSorted(new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare))
    expect(await namesOf(await call('?order=name&descending=true'))).toEqual(sorted.toReversed())
  })

  test('a search takes every character literally and ignores case', async () => {
    const { claims, call } = await person()
    const names = [
      '100%.txt',
      '100 percent.txt',
      'a_b.txt',
      'aXb.txt',
      'a*b.txt',
      'back\\slash.txt',
      'ÜBER Éclair.txt',
      'ΟΔΥΣΣΕΙΑ.txt',
    ]
    await storeNamed(claims.sub, names)
    const found = async (search: string) =>
      (await namesOf(await call(`?search=${encodeURIComponent(search)}`))).toSorted()
    expect(await found('%')).toEqual(['100%.txt'])
    expect(await found('A_B')).toEqual(['a_b.txt'])
    expect(await found('a*b')).toEqual(['a*b.txt'])
    expect(await found('\\')).toEqual(['back\\slash.txt'])
    expect(await found('über é')).toEqual(['ÜBER Éclair.txt'])
    expect(await found('οδυσ')).toEqual(['ΟΔΥΣΣΕΙΑ.txt'])
    expect(await found("' or true")).toEqual([])
    expect(await found('a\u0000b')).toEqual([])
  })

  test('malformed parameters are refused', async () => {
    const { call } = await person()
    for (const query of [
      'order=size',
      'descending=2',
      `search=${'n'.repeat(201)}`,
      'ids=1',
      `ids=${Array.from({ length: 101 }, () => randomUUID()).join()}`,
    ])
      expect((await call(`?${query}`)).status, query).toBe(400)
    expect((await call('', { method: 'DELETE' })).status).toBe(400)
    expect((await call('/matches')).status).toBe(400)
  })
})

describe('what a second person is answered', () => {
  test('no list, count, name or id shows or deletes documents of another one', async () => {
    const [owner, stranger] = [await person(), await person()]
    await storeNamed(owner.claims.sub, ['Lease 1.txt', 'Lease 2.txt'])
    const rows = await rowsOf(await owner.call('?order=name'))
    const ids = rows.map(({ id }) => id).join()
    const counts = async ({ call }: typeof owner): Promise<unknown> => (await call('/count')).json()
    expect(await counts(owner)).toEqual({ total: 2, ready: 2, being_read: 0, paused: 0, queue: 0 })
    expect(await rowsOf(await owner.call(`?ids=${ids}`))).toHaveLength(2)
    expect(await (await owner.call('/names?search=lease')).json()).toHaveLength(2)
    expect(await namesOf(await owner.call('/matches?name=lease'))).toHaveLength(2)

    expect(await counts(stranger)).toEqual({ total: 0, ready: 0, being_read: 0, paused: 0, queue: 0 })
    for (const query of [
      '?order=name',
      '?search=lease',
      `?ids=${ids}`,
      '/names',
      '/names?search=lease',
      '/matches?name=lease',
    ])
      expect(await (await stranger.call(query)).json(), query).toEqual([])
    expect((await stranger.call(`?order=name&after=${rows[0]?.id ?? ''}`)).status).toBe(404)
    expect((await stranger.call(`?ids=${ids}`, { method: 'DELETE' })).status).toBe(204)
    expect(await counts(owner)).toEqual({ total: 2, ready: 2, being_read: 0, paused: 0, queue: 0 })
    expect((await owner.call(`?ids=${rows[0]?.id ?? ''},${randomUUID()}`, { method: 'DELETE' })).status).toBe(204)
    expect(await namesOf(await owner.call(''))).toEqual(['Lease 2.txt'])
  })
})

describe('what a page is told before it sends a file', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  const ask = ({ call }: Awaited<ReturnType<typeof person>>, hashes: unknown[]) =>
    call('/known', { method: 'POST', body: JSON.stringify({ sha256: hashes }) })

  test('the documents that have its bytes, its own person alone', async () => {
    const [owner, stranger] = [await person(), await person()]
    const { id } = await owner.uploadOne('note.txt', 'A note that is known.')
    const hashes = [sha256('A note that is known.'), sha256('Another one.')]
    expect(await (await ask(owner, hashes)).json()).toMatchObject([{ sha256: hashes[0], document: { id } }])
    expect(await (await ask(stranger, hashes)).json()).toEqual([])
  })

  test.each([
    ['too many hashes', Array.from({ length: 101 }, (_, index) => sha256(`${index}`))],
    ['no hash', ['ABC']],
  ])('refuses %s', async (_, hashes) => {
    expect((await ask(await person(), hashes)).status).toBe(400)
  })
})

describe('the queue', () => {
  /** As many documents as states, each a second younger than the one before. */
  const storeQueue = async (owner: string, states: readonly string[], hoursAgo = 0) => {
    for (const [index, state] of states.entries())
      await database.admin.query(
        `insert into documents (owner, filename, originalname, mimetype, size, path, sha256, state, uploaded_at, parsed_at)
         select $1, $2, $2, 'text/plain', 1, $3, $3, $4, at, case when $4 = 'ready' then at + interval '1 second' end
         from (select now() - make_interval(hours => $5, secs => $6) as at) as given`,
        [owner, `${state} ${index}.txt`, randomUUID(), state, hoursAgo, states.length - index],
      )
  }
  const counts = async ({ call }: Awaited<ReturnType<typeof person>>): Promise<unknown> => (await call('/count')).json()
  const setPaused = ({ call }: Awaited<ReturnType<typeof person>>, paused: unknown) =>
    call('/queue', { method: 'PATCH', body: JSON.stringify({ paused }) })

  test('counts what was uploaded since all were read', async () => {
    const owner = await person()
    await storeQueue(owner.claims.sub, ['ready', 'ready', 'failed'], 2)
    expect(await counts(owner)).toMatchObject({ total: 3, queue: 0 })
    await storeQueue(owner.claims.sub, ['ready', 'failed', 'ready', 'paused', 'paused'])
    expect(await counts(owner)).toEqual({ total: 8, ready: 4, being_read: 0, paused: 2, queue: 5 })
  })

  test('is paused and cancelled, without touching that of another person', async () => {
    const [owner, stranger] = [await person(), await person()]
    await storeQueue(stranger.claims.sub, ['failed', 'paused'])
    await storeQueue(owner.claims.sub, ['failed', 'reading', 'queued'])
    expect(await (await setPaused(owner, true)).json()).toMatchObject({ total: 3, being_read: 0, paused: 2 })
    expect((await setPaused(owner, 'yes')).status).toBe(400)
    expect((await owner.call('/queue', { method: 'DELETE' })).status).toBe(204)
    expect(await namesOf(await owner.call(''))).toEqual(['failed 0.txt'])
    expect(await namesOf(await stranger.call('?order=name'))).toEqual(['failed 0.txt', 'paused 1.txt'])
  })

  test('is cancelled as it was at a moment: what is added later stays', async () => {
    const owner = await person()
    await storeQueue(owner.claims.sub, ['ready', 'queued', 'paused'], 2)
    await storeQueue(owner.claims.sub, ['failed', 'queued'])
    const until = new Date(Date.now() - 3_600_000).toISOString()
    expect((await owner.call('/queue?until=yesterday', { method: 'DELETE' })).status).toBe(400)
    expect((await owner.call(`/queue?until=${until}`, { method: 'DELETE' })).status).toBe(204)
    expect(await namesOf(await owner.call('?order=name'))).toEqual(['failed 0.txt', 'queued 1.txt', 'ready 0.txt'])
  })

  test('goes on', async () => {
    const [owner, stranger] = [await person(), await person()]
    await storeQueue(stranger.claims.sub, ['paused'])
    const { id } = await owner.uploadOne('held.txt', 'The lamp stands in the alcove.')
    await owner.finished(id)
    await database.admin.query('delete from document_pages where document_id = $1', [id])
    await database.admin.query(
      `update documents set state = 'paused', attempt = 0, pages = null, parsed_at = null where id = $1`,
      [id],
    )
    expect(await (await setPaused(owner, false)).json()).toMatchObject({ paused: 0 })
    expect(await owner.finished(id)).toMatchObject({ state: 'ready', pages: 1 })
    expect(await counts(stranger)).toMatchObject({ paused: 1 })
  })
})

test('names that fit best come first', async () => {
  const { claims, call } = await person()
  const best = ['rent.txt', 'Rent.txt', 'Rent.txt.bak', 'Old rent.txt 2', 'currént.txt']
  for (const [index, name] of best.entries()) await storeNamed(claims.sub, [name, 'else'], `2026-01-${10 + index}`)
  expect(await namesOf(await call('/matches?name=RENT.TXT'))).toEqual([best[1], best[0], ...best.slice(2)])
  expect(await namesOf(await call(`/matches?name=${encodeURIComponent('txt old')}`))).toEqual(['Old rent.txt 2'])
  expect(await namesOf(await call('/matches?name='))).toEqual([])
})

test('a listed document is the same as when it is asked for alone', async () => {
  const { upload, call } = await person()
  const { documents } = uploadAnswer.parse(await (await upload(['note.txt', 'A note about the garden.'])).json())
  const alone: unknown = await (await call(`/${documents[0]?.id ?? ''}`)).json()
  const [listed] = z.array(z.looseObject({})).parse(await (await call()).json())
  const times = ({ uploaded_at }: Record<string, unknown>) => ({ uploaded_at })
  expect(times(listed ?? {})).toEqual(times(z.looseObject({}).parse(alone)))
  expect(listed?.['uploaded_at']).toMatch(/\.\d{6}Z$/)
  expect(Object.keys(listed ?? {}).toSorted()).toEqual(Object.keys(z.looseObject({}).parse(alone)).toSorted())
})

test('the report names pages without text and why', async () => {
  const { uploadOne, finished, call } = await person()
  const { id } = await uploadOne('lamp.pdf', pdf('A page with words on it.', ''))
  await finished(id)
  expect(await (await call(`/${id}/report`)).json()).toEqual({
    pages: 2,
    recognised: [],
    without_text: [{ page: 2, why: 'blank' }],
    cut: [],
  })
})

describe('renaming and deleting', () => {
  test('renames, and finds the document by its new name', async () => {
    const { uploadOne, finished, call, claims } = await person()
    const { id } = await uploadOne('scan001.txt', 'Rent is due on the first day of each month.')
    await finished(id)
    const renamed = await call(`/${id}`, {
      method: 'PATCH',
      body: JSON.stringify({ filename: ' Mietvertrag Hauptstraße.txt ' }),
    })
    expect(documentRow.parse(await renamed.json())).toMatchObject({
      filename: 'Mietvertrag Hauptstraße.txt',
      originalname: 'scan001.txt',
    })
    await expect
      .poll(
        async () =>
          (
            await database.admin.query(
              `select from document_index where owner = $1 and filename = 'Mietvertrag Hauptstraße.txt'`,
              [claims.sub],
            )
          ).rowCount,
      )
      .toBe(1)
    expect((await call(`/${id}`, { method: 'PATCH', body: JSON.stringify({ filename: ' ' }) })).status).toBe(400)
    const asForm = { method: 'PATCH', body: '{"filename":"sent.txt"}', headers: { 'content-type': 'text/plain' } }
    expect((await call(`/${id}`, asForm)).status).toBe(415)
    const refused = await call(`/${id}`, { method: 'PATCH', body: 'no json' })
    expect(refused.status).toBe(400)
    expect(errorAnswer.parse(await refused.json()).error.message).toBe('The body is not valid JSON.')
  })

  test('deletes row, pages, passages, index and bytes', async () => {
    const { uploadOne, finished, call, claims } = await person()
    const { id } = await uploadOne('gone.txt', 'Soon there will be nothing left of this.')
    await finished(id)
    const before = await countBlobs()
    expect((await call(`/${id}`, { method: 'DELETE' })).status).toBe(204)
    for (const table of [
      'documents',
      'document_pages',
      'passages',
      'document_index',
      'search_segments',
      'search_buckets',
    ]) {
      expect((await database.admin.query(`select from ${table} where owner = $1`, [claims.sub])).rowCount, table).toBe(
        0,
      )
    }
    await expect.poll(countBlobs).toBe(before - 1)
    expect((await call(`/${id}`, { method: 'DELETE' })).status).toBe(404)
  })
})

describe('a long sheet', () => {
  // Characters of two code units, and groups of rows with empty ones in between.
  const value = (row: number) => `${row % 7 === 0 ? '🏡 ' : ''}lamp ${row}`
  const sheet = Array.from({ length: 3_300 }, (_, row) => (row % 1000 === 999 ? [] : [value(row), row]))

  async function openSheet() {
    const own = await person()
    const { id } = await own.uploadOne('lamps.xlsx', new Uint8Array(makeWorkbook([{ name: 'Lamps', rows: sheet }])))
    await own.finished(id)
    const read = async (query: string) => pageText.parse(await (await own.call(`/${id}/pages/1${query}`)).json())
    return { ...own, id, read, whole: await read('') }
  }

  test('is sent as the rows near an offset or an index, at the offsets of the whole text', async () => {
    const { read, whole } = await openSheet()
    expect(whole.part).toBeUndefined()
    expect(whole.rows).toHaveLength(3_297)
    const border = whole.rows?.[2_000]?.[0] ?? 0
    expect((await read(`?near=${border}`)).part?.first).toBe(1_999)
    expect((await read(`?near=${border - 1}`)).part?.first).toBe(999)
    expect((await read('?row=1000')).part?.first).toBe(999)
    for (const query of ['?row=0', '?row=999', '?row=2500', '?row=99999', `?near=${whole.text.indexOf(value(2345))}`]) {
      const { text, rows, part } = await read(query)
      expect(part, query).toBeDefined()
      if (!part || !rows) continue
      expect(text, query).toBe(whole.text.slice(part.start, part.start + text.length))
      expect(rows, query).toEqual(whole.rows?.slice(part.first, part.first + rows.length))
      expect(part, query).toMatchObject({ count: 3_297, name: 'Lamps', widths: [12, 4] })
      expect(part.last, query).toEqual(whole.rows?.at(-1))
      expect(part.end, query).toBe(whole.text.slice(part.last[0]))
    }
    const near = await read(`?near=${whole.text.indexOf(value(2345)) + 2}`)
    expect(near.text).toContain(`${value(2345)} |`)
    expect((await read('?row=2500')).part?.first).toBe(1_999)
    expect((await read('?near=99999999')).rows?.at(-1)).toEqual(whole.rows?.at(-1))
  })

  test('is refused for an offset that is none', async () => {
    const { call, id } = await openSheet()
    for (const query of ['?near=-1', '?near=x', '?row=1.5'])
      expect((await call(`/${id}/pages/1${query}`)).status).toBe(400)
  })

  test('holds a passage of many short rows', async () => {
    const own = await person()
    const rows = Array.from({ length: 4_000 }, (_, row) => [row % 10])
    const { id } = await own.uploadOne('digits.xlsx', new Uint8Array(makeWorkbook([{ name: 'Digits', rows }])))
    await own.finished(id)
    const near = pageText.parse(await (await own.call(`/${id}/pages/1?near=1900`)).json())
    expect((near.part?.start ?? 0) + near.text.length).toBeGreaterThan(1_900 + 5_000)
  })

  test.each([20, 2_000])('is sent whole if it has only %i rows', async (count) => {
    const own = await person()
    const rows = Array.from({ length: count }, (_, row) => [value(row), row])
    const { id } = await own.uploadOne('few.xlsx', new Uint8Array(makeWorkbook([{ name: 'Few', rows }])))
    await own.finished(id)
    const [whole, near] = await Promise.all(
      ['', '?near=5'].map(async (query) => (await own.call(`/${id}/pages/1${query}`)).json()),
    )
    expect(near).toEqual(whole)
  })
})

describe('other people', () => {
  test('see and change nothing of a document, by any route', async () => {
    const [owner, stranger] = [await person(), await person()]
    const { id } = await owner.uploadOne('secret.txt', 'Nobody else may read this.')
    await owner.finished(id)
    for (const [where, init] of [
      [`/${id}`, {}],
      [`/${id}/file`, {}],
      [`/${id}/file`, { headers: { range: 'bytes=0-3' } }],
      [`/${id}/pages/1`, {}],
      [`/${id}/pages/1?near=0`, {}],
      [`/${id}/pages/1?row=0`, {}],
      [`/${id}`, { method: 'PATCH', body: '{"filename":"mine.txt"}' }],
      [`/${id}`, { method: 'DELETE' }],
    ] as const) {
      const answer = await stranger.call(where, init)
      expect(answer.status, JSON.stringify([where, init])).toBe(404)
      expect(errorAnswer.parse(await answer.json()).error.code).toBe('not_found')
    }
    expect(await (await stranger.call()).json()).toEqual([])
    expect(z.array(documentRow).parse(await (await owner.call()).json())).toMatchObject([
      { id, filename: 'secret.txt' },
    ])
  })

  test('who are not signed in are refused before anything is read', async () => {
    for (const [where, method] of [
      ['', 'GET'],
      ['', 'POST'],
      [`/${randomUUID()}`, 'GET'],
      [`/${randomUUID()}/file`, 'GET'],
      [`/${randomUUID()}`, 'DELETE'],
    ] as const) {
      expect((await fetch(`${address}${where}`, { method })).status).toBe(401)
    }
  })

  test('read and write no row of any table', async () => {
    const [owner, stranger] = [await person(), await person()]
    const { id } = await owner.uploadOne('rows.txt', 'These rows belong to one person.')
    await owner.finished(id)
    const as = (claims: typeof stranger.claims, sql: string) =>
      database.database.asUser(claims, (scope) => scope.query(sql))
    for (const table of [
      'documents',
      'document_pages',
      'passages',
      'document_index',
      'search_segments',
      'search_buckets',
    ]) {
      expect((await as(owner.claims, `select from ${table}`)).rowCount, table).toBeGreaterThan(0)
      expect((await as(stranger.claims, `select from ${table}`)).rowCount, table).toBe(0)
    }
    expect((await as(stranger.claims, 'delete from documents')).rowCount).toBe(0)
    expect((await as(stranger.claims, `update documents set filename = 'mine'`)).rowCount).toBe(0)
    for (const sql of [
      `insert into documents (filename, originalname, mimetype, size, path, sha256) values ('a', 'a', 'text/plain', 1, 'p', 's')`,
      `update documents set path = 'other'`,
      `insert into search_segments (owner, buckets, passages, lengths) values (auth.uid(), 1, 1, '')`,
      `update search_buckets set content = ''`,
      'delete from passages',
      'update search_segments set length = 0',
      'select from discarded_blobs',
    ]) {
      await expect(as(stranger.claims, sql), sql).rejects.toThrow(/permission denied/)
    }
  })

  test('unknown ids and pages are not found', async () => {
    const { call } = await person()
    for (const where of ['/no-uuid', `/${randomUUID()}`, `/${randomUUID()}/pages/0`, `/${randomUUID()}/pages/x`]) {
      expect((await call(where)).status).toBe(404)
    }
  })
})
