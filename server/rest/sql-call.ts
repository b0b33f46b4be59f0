import type { Bind } from '#server/database/filter.ts'
import type { CallPlan, SelectPlan } from './plan.ts'
import { RESPONSE_SETTINGS_COLUMNS } from './response-settings.ts'
import { payloadToSql } from './sql-payload.ts'
import { totalToSql } from './sql-read.ts'
import { selectToSql } from './sql-select.ts'
import {
  BODY,
  bodyToSql,
  bytesToSql,
  buildStatement,
  PAGE,
  qualified,
  quote,
  SOURCE,
  type Statement,
  TARGET,
} from './sql-statement.ts'

/** Names the only column of a function that returns no rows. */
const SCALAR = 'pgrst_scalar'

function argumentsToSql({ args }: CallPlan, bind: Bind): { from: string; list: string } {
  if (args.kind === 'body') return { from: '', list: `${bind(args.text)}::${args.type}` }
  if (args.kind === 'texts') {
    const list = args.values.map(({ parameter, texts }) => {
      const name = `${parameter.isVariadic ? 'variadic ' : ''}${quote(parameter.name)} => `
      const values = parameter.isVariadic ? `array[${texts.map(bind).join(', ')}]` : bind(texts[0] ?? '')
      return `${name}${values}::${parameter.type}`
    })
    return { from: '', list: list.join(', ') }
  }
  if (args.parameters.length === 0) return { from: '', list: '' }
  const list = args.parameters.map(
    ({ name, isVariadic }) => `${isVariadic ? 'variadic ' : ''}${quote(name)} => ${BODY}.${quote(name)}`,
  )
  const columns = args.parameters.map(({ name, type }) => ({
    column: { name, type, fallback: null },
    fallback: undefined,
  }))
  return { from: `${payloadToSql(columns, { ...args, isArray: false }, bind)}, lateral`, list: list.join(', ') }
}

export const callToSql = (plan: CallPlan): Statement =>
  buildStatement(plan, (builder) => {
    const { routine, media } = plan
    const { from, list } = argumentsToSql(plan, builder.bind)
    const call = `${qualified(routine)}(${list})`
    const isRow = routine.returns === 'row'
    // A value that is too large as it is must not be rendered first.
    const { maxBytes } = plan.bounds
    const bytes = bytesToSql(isRow ? 'called.*' : `called.${SCALAR}`)
    const fits = `${bytes} is null or ${bytes} <= ${maxBytes} or extensions.add_answer_bytes(0, ${bytes}, ${maxBytes}) > 0`
    const rows = isRow
      ? `select ${['*', ...plan.computed.map(quote)].map((name) => `called.${name}`).join(', ')} from ${from} ${call} as called where ${fits}`
      : `select called.${SCALAR} from ${from} (select ${call} as ${SCALAR} offset 0) as called where ${fits}`
    const select: SelectPlan = isRow ? plan : { ...plan, output: [{ kind: 'all' }] }
    const page = selectToSql(select, { from: SOURCE, row: TARGET }, builder)
    const total = totalToSql(plan, SOURCE, builder)
    const value = isRow ? `${PAGE}.*` : `${PAGE}.${SCALAR}`
    const hasNoBody = plan.isHead || routine.returns === 'void'
    const takesFirst = media.shape === 'object' || !routine.returnsSet
    const { body, from: answer } = hasNoBody
      ? { body: `''`, from: `(${page}) ${PAGE}` }
      : bodyToSql({ media, page, value, takesFirst, maxRows: plan.bounds.maxRows }, builder)
    // Materialized, so the function runs once however often its value is read.
    return `with ${SOURCE} as materialized (${rows}) select count(*) as rows, ${total} as total, ${body} as body, ${RESPONSE_SETTINGS_COLUMNS} from ${answer}`
  })
