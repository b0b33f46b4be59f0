import type { AstExpression } from '@borgar/fx/xlsx'
import type { Matrix, Scalar, Value } from './values.ts'

/** An argument may be left out between commas, or at the end. */
export type Argument = AstExpression | null | undefined

export interface FunctionContext {
  readonly at: { readonly sheet: number; readonly row: number; readonly column: number; readonly isArray?: boolean }
  readonly is1904: boolean
  readonly evaluate: (argument: Argument) => Value
  readonly toScalar: (value: Value) => Scalar
  readonly toMatrix: (value: Value) => Matrix
  /** Context in which a range stands for all its cells. */
  readonly asArray: () => FunctionContext
  /** In arrays, a result for each place of values that are ranges or matrices. */
  readonly applyToScalars: (values: readonly Value[], compute: (scalars: readonly Scalar[]) => Scalar) => Value
  /** @throws NotComputable where the work is over. */
  readonly countSteps: (count: number) => void
  readonly formulaAt: (sheet: number, row: number, column: number) => string | undefined
  readonly combine: (left: Value, right: Value, apply: (left: Scalar, right: Scalar) => Scalar) => Value
}

export type FormulaFunction = (args: readonly Argument[], context: FunctionContext) => Value
