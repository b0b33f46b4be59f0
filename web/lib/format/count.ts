/** A number with its noun, such as '1 page' and '2 pages'. */
export const count = (number: number, one: string, many: string): string => `${number} ${number === 1 ? one : many}`
