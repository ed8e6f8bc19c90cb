-- Work for the Lua interpreter: closures, strings, tables, sorting, errors,
-- coroutines, garbage.  What it prints is fixed by its argument.
local n = tonumber(arg[1]) or 4

local function fib(k)
	return k < 2 and k or fib(k - 1) + fib(k - 2)
end

local words = {}
for i = 1, n * 20 do
	words[#words + 1] = ("w%03d"):format(i * 7919 % 1009)
end
table.sort(words)
table.sort(words, function(a, b) return a:sub(-1) .. a < b:sub(-1) .. b end)

local text = table.concat(words, " ")
local seen, order = {}, 0
for w in text:gmatch("%a%d+") do
	seen[w] = (seen[w] or 0) + 1
	order = (order * 31 + tonumber(w:sub(2))) % 1000003
end

local object = setmetatable({}, {
	__index = function(_, k) return k .. "!" end,
	__add = function(_, b) return b * 2 end,
	__tostring = function() return "an object" end,
	__close = function() order = order + 1 end,
})
for i = 1, n do
	local held <close> = object
	order = order + (held + i) + #held["field" .. i]
end

local producer = coroutine.wrap(function()
	for i = 1, n * 3 do
		coroutine.yield(i * i)
	end
	error({ code = 42 })
end)
local squares = 0
for _ = 1, n * 3 do
	squares = squares + producer()
end
local ok, problem = pcall(producer)

local chunk = assert(load("local a, b = ... ; goto out ; a = 0 ::out:: " ..
    "while a < 10 do a = a + 1 if a % 3 == 0 then b = b .. a end end " ..
    "repeat a = a - 1 until a <= 0 return a, b"))
local a, b = chunk(1, "x")
local garbage = {}
for i = 1, n * 50 do
	garbage[i % 17] = { i, tostring(i), { i } }
end
collectgarbage()
collectgarbage("step")

print(fib(n + 6), #text, order, squares, ok, problem.code, a, b)
print(tostring(object), select("#", table.unpack(words)), 7 // 2, 7.5 % 2,
    1 << 5, 0xff ~ 0x0f, math.type(2^53), utf8.char(228, 8364))
print(pcall(string.rep), (text:gsub("w", "v", 3)):sub(1, 20),
    string.pack("<i4", 77):byte(1, -1))
io.write(("%5.2f|%q|%x\n"):format(math.pi, "quo\"ted\n", 255))
os.exit(n)
