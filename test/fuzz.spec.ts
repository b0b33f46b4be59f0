/**
 * Attacks a started server with requests and sockets that a seed generates, while one person works honestly. Two seeds of
 * a few hundred cases in `npm test`; as many as fit into an hour in `npm run endurance` (or `FUZZ_MINUTES=<minutes>`).
 * `FUZZ_SEED` chooses the second seed, `FUZZ_LANES` how many attackers there are at a time.
 */
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startAlcove } from './alcove.ts'
import { type Effort, runCampaign } from './fuzz/campaign.ts'
import { copyStartedDataDir } from './started-data.ts'
import { startStubModel } from './stub-model.ts'
import { startToolServer } from './tool-server.ts'

const MINUTES = Number(process.env['FUZZ_MINUTES'] ?? 0)
const LANES = Number(process.env['FUZZ_LANES'] ?? 4)
const CASES = Number(process.env['FUZZ_CASES'] ?? 120)
const FIXED_SEED = 1
const CHOSEN_SEED = Number(process.env['FUZZ_SEED'] ?? 2)
const MAX_GROWTH_MB = 50
/** Twice a second; two minutes after a long run. */
const SETTLE_POLLS = MINUTES > 0 ? 240 : 60
const COLLECT = fileURLToPath(new URL('./fuzz/collect-on-signal.mjs', import.meta.url))

test(
  'no generated request ends the server, goes without an answer, shows its inside or keeps its memory',
  { timeout: 240_000 + MINUTES * 60_000, retry: 0 },
  async () => {
    const [folder, stub, tools] = await Promise.all([copyStartedDataDir(), startStubModel(), startToolServer()])
    const alcove = await startAlcove({
      DATA_DIR: folder.dataDir,
      AUTH_AUTOCONFIRM: 'true',
      AUTH_ANONYMOUS: 'true',
      RATE_LIMITS: 'off',
      ALLOWED_NETWORKS: '127.0.0.1',
      OPENAI_COMPATIBLE_BASE_URL: stub.baseUrl,
      LOG_LEVEL: 'warn',
      NODE_OPTIONS: `--expose-gc --trace-warnings --import ${COLLECT}`,
    })
    onTestFinished(async () => {
      await alcove.end()
      await stub.stop()
      tools.stop()
      await folder.remove()
    })

    const efforts: Effort[] =
      MINUTES > 0
        ? [{ seed: CHOSEN_SEED, cases: Number.POSITIVE_INFINITY, untilMs: performance.now() + MINUTES * 60_000 }]
        : [FIXED_SEED, CHOSEN_SEED].map((seed) => ({ seed, cases: CASES, untilMs: Number.POSITIVE_INFINITY }))
    const { faults, ...summary } = await runCampaign(
      { alcove, dataDir: folder.dataDir, neighbours: { modelUrl: stub.baseUrl, toolUrl: tools.url }, lanes: LANES },
      efforts,
      { maxGrowthMb: MAX_GROWTH_MB, settlePolls: SETTLE_POLLS },
    )
    console.log(JSON.stringify(summary, null, 1), `\n${faults.length} faults`)
    expect(faults.map(({ shownBy, what }) => `${shownBy}: ${what}`)).toEqual([])
  },
)
