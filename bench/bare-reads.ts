/** Baseline of `npm run bench -- rest`, in its own process: a bare hono route that runs one statement as one person. */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import pg from 'pg'

const [, , connection = '{}', claims = '', query = ''] = process.argv
const pool = new pg.Pool({ ...(JSON.parse(connection) as pg.PoolConfig), max: 20 })

const app = new Hono().get('/', async (context) => {
  const client = await pool.connect()
  try {
    await client.query('begin read only')
    await client.query(`select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)`, [
      claims,
    ])
    const { rows } = await client.query<Record<string, unknown>>(query)
    await client.query('commit')
    return context.json(rows)
  } finally {
    client.release()
  }
})
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }: AddressInfo) =>
  console.log(`http://127.0.0.1:${port}`),
)
