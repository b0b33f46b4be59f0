/** Each change of a room notifies every node. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Database } from '#server/database/scope.ts'
import type { Channel } from './channels.ts'

export const PRESENCE_CHANNEL = 'realtime_presence'
/** A node counts as lost after three missed heartbeats. */
const NODE_TIMEOUT = '30 seconds'

const presenceSchema = z.object({ ref: z.string(), key: z.string(), meta: z.record(z.string(), z.unknown()) })
export type Presence = z.output<typeof presenceSchema>
export type PresenceMeta = Readonly<Record<string, unknown>>

export interface PresenceStore {
  readonly isRegistered: boolean
  readRoom(room: string): Promise<Presence[]>
  /** Registers this node first if needed. */
  write(entries: readonly (readonly [Channel, PresenceMeta])[]): Promise<void>
  delete(channel: Channel): Promise<void>
  /** Removes lost nodes. Returns whether this node's row was missing. */
  heartbeat(): Promise<boolean>
  /** For a node without presences, which has no row. */
  removeLostNodes(): Promise<void>
  removeNode(): Promise<void>
}

const REMOVE_LOST = `
  with gone as (delete from realtime.nodes where seen_at < now() - $2::interval and id <> $1 returning id),
    left_rooms as (select distinct p.room from realtime.presences p join gone on gone.id = p.node),
    told as (select realtime.ring($3, room) from left_rooms)`

export function createPresenceStore(database: Database): PresenceStore {
  const node = randomUUID()
  let isRegistered = false

  return {
    get isRegistered() {
      return isRegistered
    },
    async readRoom(room) {
      const { rows } = await database.asService(
        (scope) =>
          scope.query('select ref, key, meta from realtime.presences where room = $1 order by tracked_at, ref', [room]),
        { readOnly: true },
      )
      return z.array(presenceSchema).parse(rows)
    },
    async write(entries) {
      await database.asService(async (scope) => {
        if (!isRegistered)
          await scope.query(
            'insert into realtime.nodes (id) values ($1) on conflict (id) do update set seen_at = now()',
            [node],
          )
        await scope.query(
          `insert into realtime.presences (channel, ref, node, room, key, meta)
           select p.channel, gen_random_uuid()::text, $1, p.room, p.key, p.meta
           from jsonb_to_recordset($2) as p (channel uuid, room text, key text, meta jsonb)
           on conflict (channel) do update set ref = excluded.ref, meta = excluded.meta, tracked_at = excluded.tracked_at`,
          [
            node,
            JSON.stringify(
              entries.map(([{ id, room, presenceKey }, meta]) => ({ channel: id, room, key: presenceKey, meta })),
            ),
          ],
        )
        await scope.query('select realtime.ring($1, room) from (select distinct unnest($2::text[]) as room) r', [
          PRESENCE_CHANNEL,
          entries.map(([{ room }]) => room),
        ])
      })
      isRegistered = true
    },
    async delete(channel) {
      await database.asService((scope) =>
        scope.query(
          `with gone as (delete from realtime.presences where channel = $1 returning room)
           select realtime.ring($2, room) from gone`,
          [channel.id, PRESENCE_CHANNEL],
        ),
      )
    },
    async heartbeat() {
      const { rows } = await database.asService((scope) =>
        scope.query<{ isNew: boolean }>(
          `${REMOVE_LOST}
           insert into realtime.nodes (id)
           select $1 from (select count(*) from told) t
           on conflict (id) do update set seen_at = now()
           returning xmax = 0 as "isNew"`,
          [node, NODE_TIMEOUT, PRESENCE_CHANNEL],
        ),
      )
      isRegistered = true
      return rows[0]?.isNew ?? false
    },
    async removeLostNodes() {
      await database.asService((scope) =>
        scope.query(`${REMOVE_LOST} select count(*) from told`, [node, NODE_TIMEOUT, PRESENCE_CHANNEL]),
      )
    },
    async removeNode() {
      if (!isRegistered) return
      await database.asService((scope) =>
        scope.query(
          `with gone as (delete from realtime.presences where node = $1 returning room),
             left_node as (delete from realtime.nodes where id = $1)
           select realtime.ring($2, room) from (select distinct room from gone) r`,
          [node, PRESENCE_CHANNEL],
        ),
      )
    },
  }
}
