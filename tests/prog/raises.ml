(* Exceptions, closures and jumps by pointers, with counts that the program
   knows: it prints how often find, apply and the handlers ran. *)
exception Found of int

let finds = ref 0 and caught = ref 0 and missed = ref 0

let[@inline never] find a x =
  incr finds;
  try
    Array.iteri (fun i y -> if x = y then raise (Found i)) a;
    -1
  with Found i -> incr caught; i

let rec endless next = try while true do next () done with Exit -> ()

let[@inline never] combine f a b c = f a b c + f c b a

module Map = Stdlib.Map.Make (Int)

let () =
  let n = int_of_string Sys.argv.(1) in
  let a = Array.init 20 (fun i -> i * 3) in
  let sum = ref 0 and map = ref Map.empty and left = ref n in
  for i = 1 to n do
    sum := !sum + find a (i mod 50);
    sum := !sum + combine (fun a b c -> a + b * c) i 2 3;
    map := Map.add (i mod 100) i !map;
    sum := !sum + (try Map.find (i mod 150) !map
      with Not_found -> incr missed; 0);
    if i mod 10 = 0 then
      sum := !sum + String.length (Printf.sprintf "%d %s" i "abc")
  done;
  endless (fun () -> decr left; if !left < 0 then raise Exit);
  Printf.printf "%d %d %d %d\n" !finds !caught !missed !sum
